/** Messages as `spec/webui-transcript.md` 26 writes them: `u('q', 1)`, `a('', 10, call('c1'))`, `u('q', 1, row(4), payload('A'))`. */
export type Fields = Readonly<Record<string, unknown>>;

function message(role: string) {
  return (content: unknown, timestamp?: unknown, ...more: readonly Fields[]): Record<string, unknown> =>
    Object.assign(timestamp === undefined ? { role, content } : { role, content, timestamp }, ...more) as Record<string, unknown>;
}

export const u = message('user');
export const a = message('assistant');
export const t = message('tool');
export const system = message('system');

export const call = (id: string): Fields => ({ tool_calls: [{ id, type: 'function', function: { name: 'terminal', arguments: '{}' } }] });
export const payload = (text: string): Fields => ({ api_content: text });
export const row = (id: number): Fields => ({ _state_db_row_id: id });
export const id = (value: unknown): Fields => ({ id: value });

export const P1 = 'alpha bravo';
export const P2 = 'charlie delta';
export const P3 = 'echo foxtrot';

/** "text `look` + image", as a list of parts. */
export const rich = (image = 'data:,A') => [
  { type: 'text', text: 'look' },
  { type: 'image_url', image_url: { url: image } },
];
/** What the agent stores of it. */
export const SCALAR = 'look [screenshot]';
