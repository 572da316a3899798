/** What to tell an operator about damage that this server doesn't repair (`spec/state-db-writes.md` H7, H8). */

const ADVICE = `This server does not recover a store whose pages are damaged. The owner's offline recovery does, from a copy and never in place:
1. Stop the gateway, every running agent, the Web UI and this server, so that nobody has state.db open.
2. Copy state.db together with state.db-wal, state.db-shm and state.db-journal, as far as they exist, to a new folder on a disk with room
   for the copies, the new store, and 5 percent or 256 MiB more. Delete and move nothing in the home, least of all the -wal file.
3. Run the recovery of the Hermes Agent on that copy (\`hermes sessions --help\` lists it). It builds a new store beside the copy and refuses
   an output that exists. First without partial recovery; if it can't read everything, again and allow partial: it then says which rows
   it had to leave out.
4. It is complete only when it exits with 0. Then check the new store, put it in the place of state.db while everything is still stopped,
   without the old -wal and -shm files, and start the agent again. Keep the copy until you have looked at your sessions.`;

/** Several lines of plain text, without any path of this machine. `reason` is a sentence that comes first. */
export function recoveryAdvice(reason = ''): string {
  return reason === '' ? ADVICE : `${reason}\n${ADVICE}`;
}
