/**
 * Floats as the owning programs write them (`spec/state-db-writes.md` D4): digests and identities are made over this text.
 */

/** Decimal exponents that are written out; all others take the form with `e`. */
const LOWEST_POSITIONAL = -4;
const HIGHEST_POSITIONAL = 15;

/** The shortest text that reads back as the same float, always told apart from an integer: `1.0`, `1e-05`, `nan`, `-inf`. */
export function pythonFloat(n: number): string {
  if (Number.isNaN(n)) return 'nan';
  const sign = n < 0 || Object.is(n, -0) ? '-' : '';
  const size = Math.abs(n);
  if (size === Infinity) return `${sign}inf`;
  const [mantissa = '0', power = '0'] = size.toExponential().split('e');
  const digits = mantissa.replace('.', '');
  const exponent = Number(power);
  return (
    sign + (exponent < LOWEST_POSITIONAL || exponent > HIGHEST_POSITIONAL ? scientific(digits, exponent) : positional(digits, exponent))
  );
}

function scientific(digits: string, exponent: number): string {
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
  return `${digits.slice(0, 1)}${fraction}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

function positional(digits: string, exponent: number): string {
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  return `${whole}.${digits.slice(exponent + 1) || '0'}`;
}
