/** Conversations about code, from the terminal and the browser. The format is that of `script.ts`. */
export const PROJECT_SCRIPTS = String.raw`
## lantern-search | cli | anthropic/claude-sonnet-4.5 | 0.2 | Search box forgets the last query
@ cwd /home/ada/src/lantern
@ branch main
> When I go back from a book page the search box is empty again. Can you find out why?
~ The list page keeps the query in component state. Going back mounts it anew. The URL would survive.
: I'll look at the list page and how it reads its query.
! search_files {"pattern": "useState\\(''\\)", "path": "src/pages"}
| src/pages/shelf.tsx:14:  const [query, setQuery] = useState('');
| src/pages/notes.tsx:9:  const [draft, setDraft] = useState('');
& read_file {"path": "src/pages/shelf.tsx", "offset": 1, "limit": 40}
| 12  export function Shelf() {
| 13    const books = useBooks();
| 14    const [query, setQuery] = useState('');
| 15    const found = books.filter((book) => book.title.toLowerCase().includes(query.toLowerCase()));
< The query lives only in the component (src/pages/shelf.tsx:14), so it is gone when you leave the page. I'd keep it in the address: /shelf?q=lighthouse. Then the back button, a reload and a shared link all bring it back. Shall I change it?
> Yes please, and add a test.
! patch {"path": "src/pages/shelf.tsx", "replace": "const [query, setQuery] = useSearchParam('q');"}
| patched src/pages/shelf.tsx (1 hunk)
& write_file {"path": "test/shelf-query.test.tsx", "content": "test('the query survives going back', ...)"}
| wrote 34 lines
! terminal {"command": "npm test -- shelf"}
| ✓ test/shelf-query.test.tsx (2 tests) 41 ms
| Tests  2 passed (2)
| exit 0
< Done. The query is read from and written to ?q=, with replace instead of push, so typing doesn't fill the history. Two tests cover going back and a reload; both pass.

## lantern-flaky | cli | openai/gpt-5 | 3.4 | The flaky calendar test
@ cwd /home/ada/src/lantern
@ branch fix/calendar
@ end cli_close
@ read
@ reasoning codex
> calendar.test.ts fails about once a week, always at night. Any idea?
~ Once a week, at night: a date computed in local time, compared with UTC. Sunday evening moves the week.
! terminal {"command": "TZ=Pacific/Auckland npx vitest run calendar"}
| FAIL test/calendar.test.ts > next meeting is on Thursday
| expected '2031-05-08' to be '2031-05-09'
| exit 1
< It fails whenever local time and UTC disagree about the day. With TZ=Pacific/Auckland it fails every time, so now we can fix it instead of waiting. The culprit is toISOString().slice(0, 10) in nextMeeting().
> Nice catch. Fix it.
! patch {"path": "src/calendar.ts", "replace": "return formatLocalDate(thursday);"}
| patched src/calendar.ts (1 hunk)
! terminal {"command": "for tz in UTC Pacific/Auckland America/Adak; do TZ=$tz npx vitest run calendar; done"}
| ✓ 6 tests (UTC)
| ✓ 6 tests (Pacific/Auckland)
| ✓ 6 tests (America/Adak)
| exit 0
< Fixed and run in three time zones. I left a test that sets the zone, so that it fails at noon as well as at night.

## tidepool-sensors | webui | google/gemini-2.5-pro | 7.5 | Wiring plan for the tide pool sensors
@ cwd /home/ada/src/tidepool
@ unread
@ cost actual
>img Here is the jetty. Where would you put the water level sensor?
! vision_analyze {"question": "What does the picture show, and where is the sun?"}
| A low hill at the left, the sun at the upper right, open sky.
< On the left side below the hill: it is shaded in the afternoon, and the ultrasonic sensor drifts when its housing gets warm. Mount it 1.5 m above the spring tide mark so that the blind zone of 20 cm never matters.
> How long can the cable be?
< For I2C about 50 cm before it gets unreliable. Use RS-485 for anything longer: two wires, 100 m is no trouble, and one sensor with a broken plug doesn't take the others down.
>note model_switch Model switched to google/gemini-2.5-pro
> Make me a parts list.
< | part | count | note |
| --- | --- | --- |
| ultrasonic sensor, IP67 | 2 | one spare |
| RS-485 transceiver, 3.3 V | 3 | |
| cable, 4 x 0.5 mm², 25 m | 1 | UV resistant |
| cable gland M16 | 4 | |

That is all for the first buoy; about 90 euros without the post.

## csv-import | cli | nous/hermes-4-405b | 11 | Import of the old library list
@ cwd /home/ada/src/lantern
@ end cli_close
> I have 1,400 books in an old CSV, in Latin-1. Get them into lantern.
! terminal {"command": "file books.csv && head -c 200 books.csv | iconv -f latin1 -t utf8"}
| books.csv: ISO-8859 text, with CRLF line terminators
| title;author;year
| Fräulein Smillas Gespür für Schnee;Høeg, Peter;1992
! execute_code {"language": "python", "code": "import csv; rows = list(csv.DictReader(open('books.csv', encoding='latin-1'), delimiter=';')); print(len(rows))"}
| 1412
! terminal {"command": "node scripts/import.ts books.csv --encoding latin1 --dry-run"}
| 1412 rows read, 1398 new, 11 duplicates, 3 without a title
| dry run: nothing written
| exit 0
< 1,398 of 1,412 rows would be imported. Eleven are there already, three have no title (rows 77, 310 and 1201). Names like Høeg come out right. Shall I write them?
> Go. Skip the three.
! terminal {"command": "node scripts/import.ts books.csv --encoding latin1 --skip-invalid"}
| 1398 books imported in 0.6 s
| exit 0
< Imported. The three rows without a title are in import-skipped.csv.

## regex-explain | webui | openai/gpt-5 | 20 | What this regular expression does
@ read
@ cost actual
> Explain: ^(?=.*\d)(?!.*\s).{8,}$
< It accepts a string that
- has at least one digit: (?=.*\d)
- has no white space: (?!.*\s)
- is eight characters or longer: .{8,}

The first two look ahead without using up any characters, so their order doesn't matter.
> And why is it slow on long input?
< It isn't really: both look-aheads scan once, so the time grows with the length, not faster. What is slow is a nested quantifier such as (a+)+$, where one failing end makes the engine try every way of dividing the a's.

## docker-size | cli | anthropic/claude-opus-4 | 31 | Make the image smaller
@ cwd /home/ada/src/lantern
@ branch chore/image
@ end cli_close
@ archived
> Our image is 1.3 GB. Why?
! terminal {"command": "docker history lantern:latest --format '{{.Size}} {{.CreatedBy}}' | sort -hr | head -4"}
| 812MB RUN npm install
| 310MB FROM node:24
| 96MB COPY . .
| exit 0
< Two things: development dependencies are installed (812 MB), and node_modules and .git are copied in on top (96 MB). A two-stage build and a .dockerignore bring it to about 190 MB.
> Do both.
! write_file {"path": "Dockerfile", "content": "FROM node:24-slim AS build\n..."}
| wrote 18 lines
& write_file {"path": ".dockerignore", "content": "node_modules\n.git\ncoverage\n"}
| wrote 3 lines
! terminal {"command": "docker build -q -t lantern:small . && docker image ls lantern"}
| lantern  small   188MB
| lantern  latest  1.31GB
| exit 0
< 188 MB now, and the build takes 40 seconds instead of three minutes because the dependency layer is cached.

## orchard-release | cli | anthropic/claude-sonnet-4.5 | 46 | Release 2.4 of orchard
@ cwd /home/ada/src/orchard
@ branch release/2.4
@ end cli_close
@ pinned
> Prepare release 2.4: changelog, version, tag. Don't push.
! terminal {"command": "git log v2.3..HEAD --oneline"}
| 9be11c2 Harvest report can be printed
| 41d07aa Frost warning uses the nearest station
| 07c3f5e Fix: rows with equal names were merged
>steer The frost warning is what people wait for: put it second at most.
! patch {"path": "CHANGELOG.md", "replace": "## 2.4.0\n\n- Harvest report can be printed\n- Frost warning uses the nearest station\n"}
| patched CHANGELOG.md (1 hunk)
& terminal {"command": "npm version 2.4.0 --no-git-tag-version"}
| v2.4.0
| exit 0
! terminal {"command": "npm test && git commit -qam 'Release 2.4.0' && git tag v2.4.0"}
| Tests  214 passed (214)
| exit 0
< Release 2.4.0 is committed and tagged, nothing is pushed. When you are ready: git push --follow-tags.

## sql-window | webui | local/qwen3-32b | 70 | Rank the readers of each month
@ cost unknown
> SQLite: for each month the three people who read the most pages.
< '''sql
SELECT month, reader, pages FROM (
  SELECT strftime('%Y-%m', read_at) AS month, reader, SUM(pages) AS pages,
         ROW_NUMBER() OVER (PARTITION BY strftime('%Y-%m', read_at) ORDER BY SUM(pages) DESC) AS place
  FROM readings GROUP BY month, reader
) WHERE place <= 3 ORDER BY month DESC, place;
'''
Use RANK() instead of ROW_NUMBER() when two readers with equal pages should share a place.
> It says "misuse of window function".
< Then your SQLite is older than 3.25, or the window stands in WHERE. In the query above it stands in the inner SELECT, so check the version: SELECT sqlite_version();

## tidepool-power | cli | nous/hermes-4-405b | 96 | Battery life of the buoy
@ cwd /home/ada/src/tidepool
@ end cli_close
> The buoy dies after nine days. The battery should last a month.
~ 30 days from 10 Ah means 14 mA on average. Nine days means 46 mA. The radio probably never sleeps.
! read_file {"path": "firmware/src/main.rs", "offset": 40, "limit": 30}
| 41  loop {
| 42      let level = sensor.read();
| 43      radio.send(&level);
| 44      delay.delay_ms(60_000);
| 45  }
< The loop waits with delay_ms, so the processor and the radio stay awake for the whole minute: 46 mA on average, which is exactly your nine days. With deep sleep between readings and one transmission for ten readings I get 3.9 mA, so a little over three months.
> Write it, but keep the old loop behind a feature flag.
! patch {"path": "firmware/src/main.rs", "replace": "#[cfg(not(feature = \"always-on\"))]\nsleep::deep(Duration::from_secs(60));"}
| patched firmware/src/main.rs (3 hunks)
! terminal {"command": "cargo build --release && cargo build --release --features always-on"}
| Finished release [optimized] in 41.2s
| Finished release [optimized] in 12.8s
| exit 0
< Both variants build. Please measure the current at the battery before you seal the housing: my figure assumes that the sensor's supply is switched off too.

## types-lesson | webui | openai/gpt-5 | 130 | Discriminated unions, slowly
@ read
> I keep writing optional fields for everything. Show me the better way with an example.
< Say what can be true together. Instead of { loading?: boolean; error?: Error; data?: Book[] }:
'''ts
type Shelf =
  | { state: 'loading' }
  | { state: 'failed'; error: Error }
  | { state: 'ready'; books: Book[] };
'''
Now data with an error can't be written down, and a switch over state knows which fields exist.
> What if I forget a case?
< End the switch with a default that takes the value as never: it compiles only while all cases are handled, and a new state makes the compiler point at every place that must know it.

## backup-restore | cli | anthropic/claude-opus-4 | 190 | Did the backup really work?
@ cwd /home/ada
@ end cli_close
@ handoff completed
> Restore last night's backup into a scratch directory and compare it with the original.
! terminal {"command": "restic restore latest --target /tmp/restore --include /home/ada/photos"}
| restored 18,204 files, 61.3 GiB in 9:41
| exit 0
! terminal {"command": "diff -rq /home/ada/photos /tmp/restore/home/ada/photos | head"}
| Only in /home/ada/photos/2031: IMG_4411.jpg
| exit 1
< The backup is good: all 18,204 files are equal byte for byte. The one difference, IMG_4411.jpg, was taken after the backup ran. I have removed the scratch copy.

## lantern-a11y | webui | google/gemini-2.5-pro | 260 | Keyboard use of the shelf page
@ cost actual
> Check that the shelf page can be used without a mouse.
! browser_navigate {"url": "http://localhost:5173/shelf"}
| Lantern: Shelf. 24 cards, 1 search box, 2 buttons.
& browser_press {"keys": "Tab Tab Tab Enter"}
| focus: div.card (no role, no visible outline); Enter: nothing happened
< Three findings:
1. The cards are div elements with a click handler: they get focus, but Enter does nothing. Make them links.
2. The focus outline is removed in reset.css.
3. The dialog doesn't give the focus back when it closes.
> Which one first?
< The first. Links bring the keyboard, the context menu and "open in a new tab" at once, and the other two are one line each.

## migrate-vite | cli | openai/gpt-5 | 410 | From webpack to vite
@ cwd /home/ada/src/orchard
@ end cli_close
@ archived
> How much work is it to move orchard to vite?
! terminal {"command": "grep -rn 'require.context\\|process.env' src | wc -l"}
| 17
| exit 0
< An afternoon. Seventeen places use require.context or process.env; the rest is configuration that becomes shorter. The only risk is the service worker, which is built by a webpack plugin.

## first-steps | cli | nous/hermes-4-405b | 950 | Hello
@ cwd /home/ada
@ end cli_close
> Hello! What can you do on this machine?
< Hello Ada. I can read and write files, run commands, look things up on the web, keep notes for later and work on a schedule. Before anything that can't be undone I ask.
> Remember that I like short answers.
! memory {"action": "add", "text": "Ada likes short answers."}
| saved
< Noted.
`;
