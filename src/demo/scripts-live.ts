/**
 * The turns that the live player performs, in turn. `where` says in which session: `newest` goes on with the newest open one of that
 * source, `new` begins one, `last` goes on with the one of the turn before. `rotate` compresses in the middle of the turn.
 */
export const LIVE_SCRIPTS = `
## recently-read | cli | anthropic/claude-sonnet-4.5 | 0 | 
@ where newest
> Put a row "recently read" on the start page, five books at most.
~ The start page already loads the shelf; the readings have a date. A small query and one component.
: I'll see what the start page loads.
! read_file {"path": "src/pages/start.tsx"}
| 8   export function Start() {
| 9     const shelf = useShelf();
& search_files {"pattern": "read_at", "path": "src"}
| src/readings.ts:21:  ORDER BY read_at DESC
! patch {"path": "src/pages/start.tsx", "replace": "<RecentlyRead books={recent.slice(0, 5)} />"}
| patched src/pages/start.tsx (2 hunks)
! terminal {"command": "npm test -- start"}
| Tests  9 passed (9)
| exit 0
< The start page has a row with the five books that were read last, newest first. It is left out while there are none.

## saturday | telegram | nous/hermes-4-405b | 0 | 
@ where newest
> is saturday dry enough for the walk?
! web_search {"query": "weather Utrecht Saturday"}
| Saturday: 16 °C, dry until 17:00, wind south-west 3
< Yes: 16 °C and dry until about five in the afternoon. Start before eleven and you are home before the rain.

## print-view | cli | anthropic/claude-sonnet-4.5 | 0 | 
@ where newest
@ rotate yes
> The list should be printable, without the buttons.
! search_files {"pattern": "@media print"}
| no matches
! write_file {"path": "src/styles/print.css", "content": "@media print { .actions { display: none } }"}
| wrote 14 lines
! terminal {"command": "npm run build"}
| built in 2.31s
| exit 0
< There is a style sheet for print now: no buttons, black on white, and a book is never cut at the end of a page.

## timer | cli | openai/gpt-5 | 0 | A timer for the bread
@ where new
> Write me a shell function that counts down minutes and rings.
! terminal {"command": "type timer 2>/dev/null || echo free"}
| free
| exit 0
< timer() { sleep $(( $1 * 60 )) && printf '\\a' && echo "$1 minutes are over"; }

## timer-test | cli | openai/gpt-5 | 0 | 
@ where last
@ end cli_close
> Try it with one second.
! terminal {"command": "sleep 1 && printf ok"}
| ok
| exit 0
< It works. Put the function into ~/.bashrc and call it with: timer 40

## next-book | telegram | nous/hermes-4-405b | 0 | 
@ where newest
> how many pages does The Summer Book have again?
< About 170, in twenty-two short chapters.
`;
