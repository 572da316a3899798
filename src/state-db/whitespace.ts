/**
 * Whitespace as the writers see it (`spec/state-db.md` 7.5, 7.6, 9.1). They trim and collapse by Unicode's White_Space property
 * plus the four ASCII separators U+001C to U+001F; `String.prototype.trim` differs in both directions (U+FEFF, U+0085, U+001C to U+001F).
 * Plain loops, because a pattern such as /\s+$/ takes quadratic time on untrusted text.
 */

function isSpace(code: number): boolean {
  if (code <= 0x20) return code >= 0x1c || (code >= 0x09 && code <= 0x0d);
  if (code < 0xa0) return code === 0x85;
  if (code < 0x2000) return code === 0xa0 || code === 0x1680;
  return code <= 0x200a || code === 0x2028 || code === 0x2029 || code === 0x202f || code === 0x205f || code === 0x3000;
}

/** The text without leading whitespace. */
export function trimStartSpace(text: string): string {
  let start = 0;
  while (start < text.length && isSpace(text.charCodeAt(start))) start += 1;
  return start === 0 ? text : text.slice(start);
}

/** The text without leading and trailing whitespace. */
export function trimSpace(text: string): string {
  let end = text.length;
  while (end > 0 && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return trimStartSpace(end === text.length ? text : text.slice(0, end));
}

export function isBlank(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    if (!isSpace(text.charCodeAt(index))) return false;
  }
  return true;
}

/** Trimmed, and every run of whitespace inside is one space. What is so already is copied in one piece, or not at all. */
export function collapseSpace(text: string): string {
  let collapsed = '';
  let start = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (!isSpace(code)) continue;
    let end = index + 1;
    while (end < text.length && isSpace(text.charCodeAt(end))) end += 1;
    const isOuter = index === 0 || end === text.length;
    if (code === 0x20 && end === index + 1 && !isOuter) continue;
    collapsed += text.slice(start, index);
    if (!isOuter) collapsed += ' ';
    start = end;
    index = end - 1;
  }
  return start === 0 ? text : collapsed + text.slice(start);
}
