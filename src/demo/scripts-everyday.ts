/** Conversations from chats, and calls over the API. The format is that of `script.ts`. */
export const EVERYDAY_SCRIPTS = `
## bergen | telegram | nous/hermes-4-405b | 0.6 | Four days in Bergen
@ peer ada
@ cost actual
> Plan four days in Bergen, we like walking and don't mind rain
! web_search {"query": "Bergen hiking Ulriken Fløyen trail condition spring"}
| 1. Vidden: the plateau walk between Ulriken and Fløyen, 15 km, 5 to 6 hours
| 2. Stoltzekleiven: 800 stone steps
< Day 1: Bryggen and the fish market, then the funicular to Fløyen at dusk.
Day 2: Vidden, the walk over the plateau from Ulriken to Fløyen (15 km, bring the rain jackets).
Day 3: fjord by boat to Mostraumen.
Day 4: Stoltzekleiven before breakfast, a slow afternoon in the art museums.
> lovely. can you check the boat times for the third day?

## sourdough | telegram | anthropic/claude-sonnet-4.5 | 5.2 | Sourdough for the weekend
@ peer ada
@ read
> my starter smells like nail polish, is it dead?
< No, it is hungry: that smell is acetone-like and means that it ran out of flour. Feed it 1:5:5 tonight and again in the morning. If it doubles in six hours, bake with it.
> it doubled!! 🎉
< Then mix the dough by noon: 500 g flour, 350 g water, 100 g starter, 10 g salt. Fold four times in two hours, shape, and let it stand in the fridge until Saturday morning.

## reading-club | telegram | nous/hermes-4-405b | 9 | Reading club: which book next?
@ peer club
@ unread
>> Jonas: I vote for something short this time
>> Mei: 我推荐《城南旧事》，很短也很好看
> @hermes three suggestions under 200 pages please
! web_search {"query": "novellas under 200 pages book club"}
| The Summer Book; Train Dreams; Foster
< Three short ones:
1. Tove Jansson, The Summer Book (170 pages)
2. Lin Haiyin, 城南旧事 / My Memories of Old Beijing (about 190)
3. Claire Keegan, Foster (90)
>> Jonas: The Summer Book!
>> Mei: 可以，下个月再读《城南旧事》

## mei-poems | discord | openai/gpt-5 | 16 | 唐诗里的月亮
@ peer poems
> 请找三首写月亮的唐诗，每首一句话介绍
< 一、李白《静夜思》：客居夜里望月思乡。
二、张九龄《望月怀远》："海上生明月，天涯共此时"。
三、王维《竹里馆》："深林人不知，明月来相照"。
> 第二首的“怀远”是什么意思？
< “怀远”是思念远方的人。诗人看见海上升起的月亮，想到远方的亲人此刻也看着同一个月亮。

## garden | telegram | local/qwen3-32b | 27 | What to sow in the cold frame
@ peer ada
@ cost unknown
> cold frame is empty now, what can i still sow?
< Lamb's lettuce, winter purslane and spinach. All three germinate at 8 °C and can be cut from November on. Sow in rows, 10 cm apart, and keep the lid open on sunny days.
> remind me to water on friday evening
! cronjob {"action": "create", "schedule": "0 18 * * 5", "prompt": "Remind Ada to water the cold frame."}
| created job waterframe
< I'll remind you on Friday at 18:00.

## minecraft | discord | nous/hermes-4-405b | 52 | Server rules for the kids
@ peer server
>> tomek: can we have a bot that greets people
> write five short friendly rules for our server, kids from 8 to 12
< 1. Ask before you take or change something that somebody built.
2. Be kind in the chat; no one is "bad" at a game.
3. Traps only in the arena.
4. Tell a grown-up when something feels wrong.
5. Have breaks. The world is still here after dinner.
>> tomek: rule 5 😭

## bike | telegram | anthropic/claude-sonnet-4.5 | 78 | The bicycle squeaks
@ peer ada
> the front brake squeals when wet, disc brake
< Most likely the pads are contaminated or glazed. Clean the disc with alcohol, sand the pads lightly, then bed them in with ten firm stops. If it still squeals, replace the pads: they are the part that can't be cleaned once oil is in them.
> that worked, thanks

## recipe | telegram | nous/hermes-4-405b | 150 | Dinner for six with little time
@ peer ada
@ archived
> six people at 7, one vegan, i have 40 minutes
< Red lentil dal with rice: everybody can eat it. 300 g lentils, two onions, ginger, a tin of tomatoes, a tin of coconut milk, cumin and turmeric. Rice on at 6:20, lentils on at 6:25, done at 6:55.

## telescope | discord | google/gemini-2.5-pro | 240 | First nights with the telescope
@ peer stars
@ cost actual
> what can I see from a balcony in the city with a 130 mm newton?
< The moon (every evening different along the shadow line), Jupiter with its moons and two belts, Saturn's ring, double stars such as Albireo, and the brighter clusters M13 and M45. Galaxies need a darker place.
> which eyepiece first
< A 12 mm wide-angle: with 650 mm focal length it gives 54x, good for nearly everything. Later a 6 mm for planets.

## home-energy | api_server | openai/gpt-5-mini | 14 | 
@ cost actual
> {"task": "summarise", "readings_kwh": [11.2, 9.8, 10.4, 14.9, 9.1, 8.7, 9.0]}
< {"total_kwh": 73.1, "highest_day": 4, "note": "Day 4 is 43 % above the average."}

## home-doorbell | api_server | openai/gpt-5-mini | 38 | 
> {"task": "classify", "text": "Parcel for number 14, left at the neighbour's"}
< {"label": "delivery", "confidence": 0.97}

## home-weather | api_server | openai/gpt-5-mini | 86 | 
> {"task": "advise", "rain_mm": 12, "wind_kmh": 48}
< {"advice": "Leave the umbrella, take the rain jacket.", "reason": "Gusts of 48 km/h turn umbrellas."}

## home-report | api_server | openai/gpt-5-mini | 330 | Month of the heating
> {"task": "report", "month": "heating"}
! execute_code {"language": "python", "code": "print(round(sum(day.kwh for day in days), 1))"}
| 412.6
< {"kwh": 412.6, "against_last_year": -0.08}
`;

/** Runs on a schedule: each is played once for every run. */
export const CRON_SCRIPTS = `
## morningbrief | cron | local/qwen3-32b | 0 | 
> Write the morning brief: weather, calendar, open pull requests.
! terminal {"command": "gh pr list --search 'review-requested:@me' --json title"}
| [{"title": "Harvest report can be printed"}]
! web_search {"query": "weather Utrecht today"}
| 14 °C, showers after 15:00
< Good morning. 14 °C, showers in the afternoon. Reading club at 19:30. One pull request waits for you: Harvest report can be printed.

## backupcheck | cron | local/qwen3-32b | 0 | 
> Check last night's backup and say only whether something is wrong.
! terminal {"command": "restic check --read-data-subset=2%"}
| no errors were found
| exit 0
< Nothing is wrong.
`;

/** The second profile. */
export const WORK_SCRIPTS = String.raw`
## incident | cli | anthropic/claude-opus-4 | 1.5 | Slow checkout on Monday
@ cwd /srv/work/checkout
@ branch main
@ unread
> Checkout was slow between 9:10 and 9:40. What happened?
! terminal {"command": "journalctl -u checkout --since 09:00 --until 10:00 | grep -c 'pool exhausted'"}
| 1843
| exit 0
< The connection pool was exhausted: 1,843 refusals in half an hour, starting with the price import at 9:10. The import opens one connection for each supplier. A limit of four would have left enough.
> Write the post-mortem, one page, no blame.
! write_file {"path": "docs/incidents/pool.md", "content": "# Slow checkout, Monday 9:10 to 9:40\n..."}
| wrote 41 lines
< It is in docs/incidents/pool.md: what customers saw, the timeline, why the limit was missing, and two actions with owners left open for you.

## review | webui | openai/gpt-5 | 26 | Review of the price import
@ cost actual
> Review this function for mistakes: const total = items.reduce((sum, item) => sum + item.price * item.count);
< Two things. reduce has no start value, so the first item itself becomes the sum and the result is a string like "[object Object]3". And prices as floats add up to cents that don't exist: count in the smallest unit.

## quarterly | cli | anthropic/claude-sonnet-4.5 | 75 | Figures for the quarterly report
@ cwd /srv/work/reports
@ end cli_close
@ pinned
> Put the three CSV exports together and give me the sums by region.
! execute_code {"language": "python", "code": "frame.groupby('region').sum()"}
| north 118204
| south 96450
< North 118,204, south 96,450. The third file repeats twelve rows of the second; I counted them once.

## standup | cron | local/qwen3-32b | 20 | 
> Collect yesterday's commits for the stand-up.
! terminal {"command": "git log --since=yesterday --oneline"}
| 1f2e3d4 Limit the connections of the price import
< One commit: the price import is limited to four connections.

## onboarding | webui | openai/gpt-5 | 300 | Checklist for a new colleague
@ archived
> A short checklist for someone's first week.
< Day 1: accounts, laptop, lunch with the team. Day 2: build the checkout service. Day 3: first small change, reviewed together. Day 4: sit with support for two hours. Day 5: tell us what was confusing.
`;
