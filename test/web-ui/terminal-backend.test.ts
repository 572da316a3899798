/** Where the commands of a profile run, by its configuration (`spec/webui-listing.md` 17.2). */
import { describe, expect, it } from 'vitest';
import { terminalBackend } from '../../src/web-ui/terminal-backend.ts';

describe('the backend of a terminal', () => {
  it.each([
    ['no word of one', 'model: m\n', 'LOCAL'],
    ['a block that names none', 'terminal:\n  cwd: /srv\nmodel: m\n', 'LOCAL'],
    ['local', 'model: m\nterminal:\n  cwd: .\n  backend: local # here\n', 'LOCAL'],
    ['quoted', 'terminal:\n  backend: "local"\n', 'LOCAL'],
    ['lines of Windows', 'terminal:\r\n  backend: local\r\n', 'LOCAL'],
    ['ssh', 'terminal:\n\n  # where\n  backend: ssh\nother:\n  backend: local\n', 'REMOTE'],
    ['docker without an end of line', 'terminal:\n  backend: docker', 'REMOTE'],
    ['the word elsewhere', 'notes:\n  - my terminal\nother:\n  backend: ssh\n', 'LOCAL'],
    ['a flow mapping', 'terminal: {backend: ssh}\n', 'UNREADABLE'],
    ['a document of JSON', '{"terminal": {"backend": "ssh"}}', 'UNREADABLE'],
    ['a quoted key', '"terminal":\n  backend: ssh\n', 'UNREADABLE'],
    ['two of them', 'terminal:\n  backend: local\n  nested:\n    backend: ssh\n', 'UNREADABLE'],
    ['a value that takes a parser', 'terminal:\n  backend: &anchor ssh\n', 'UNREADABLE'],
    ['merged from elsewhere', 'terminal:\n  <<: *defaults\n', 'UNREADABLE'],
  ] as const)('%s', (_, config, expected) => expect(terminalBackend(config)).toBe(expected));
});
