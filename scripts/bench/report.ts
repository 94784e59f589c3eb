/** The results of a run of the benchmarks. */
export interface Results {
  readonly environment: Readonly<Record<string, string | number>>
  readonly import: object
  readonly indexes: object
  readonly peers: object
  readonly rpc: object
  readonly turns: object
  readonly embedded: object
  readonly light: object
  readonly mail: object
  readonly names10k: object
  readonly names1M: object
  readonly search1M: object
  readonly pages: object
  readonly events: object
  readonly export: object
  readonly scan: object
  readonly snapshot: object
  readonly prune: object
  readonly headerTree: object
  readonly start: object
}

const shown = (value: unknown): string => {
  if (typeof value !== "number") return String(value)
  if (Number.isInteger(value)) return value.toLocaleString("en-US")
  return value >= 100 ? Math.round(value).toLocaleString("en-US") : value.toPrecision(3)
}

/** The leaves of a result, each with its path. */
const leaves = (value: unknown, path = ""): ReadonlyArray<readonly [string, string]> => {
  if (typeof value !== "object" || value === null) return [[path, shown(value)]]
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, path === "" ? key : `${path}.${key}`))
}

const table = (result: object): string =>
  ["| figure | value |", "|---|---|", ...leaves(result).map(([key, value]) => `| ${key} | ${value} |`)].join("\n")

const LIGHT = "## Light clients"

const lightSection = (light: object): string =>
  `${LIGHT}

A client in an empty directory, in a process of its own, with three svcd peers behind one line of 100 Mbit/s, on a chain of mainnet's
shape: 63,500 headers with merged-mining proofs above the anchor, 36,000 blocks with 200,000 operations on names. Client, peers and line
share the cores, so processor time counts: \`cpuSeconds\` is that of each phase. \`firstAnswerSeconds\` is for a name that changed
lately, \`answersSeconds\` until every name is known, \`signaturesSeconds\` until their signatures are checked. \`tipMemoryMB\` is what the
system counts for the process fifteen seconds after the last signature.

\`fullSync\` is a full node on the same chain, with the light part that answers first and without it, in turns:
\`speedBehindLightPart\` compares the blocks after the light part was done, \`speedOfWholeSync\` all of them. The light part takes the same
time on mainnet, whose whole chain takes many times as long.

${table(light)}
`

/** The page with other figures of light clients. */
export const withLight = (page: string, light: object): string => {
  const start = page.indexOf(LIGHT)
  const end = page.indexOf("\n## ", start + 1)
  if (start < 0 || end < 0) throw new Error("docs/performance.md has no section on light clients")
  return `${page.slice(0, start)}${lightSection(light)}${page.slice(end)}`
}

/** The figures as the page in docs/. */
export const report = (results: Results): string =>
  `# Performance

Figures of one run of \`npm run bench -- --write\`, which writes this page. Times depend on the machine: compare ratios.
The middle of three runs counts where a run takes seconds.

## Environment

${table(results.environment)}

## Import of a chain

The chain is regtest-load: 6,000 blocks, half of them merge-mined, 73,857 transactions, 34.8 MB. \`program\` is the whole
daemon from its start until it answers with the last block, every script checked, names indexed; the reference node
needs 9.9 s for the same file on two quiet 2.5 GHz cores (13.1 s on one). \`milliseconds\` says where the main thread's
time goes: reading, parsing, context-free checks with their hashes, appending to files, connecting, waiting for and
helping with scripts, flushing, followers.

${table(results.import)}

## Optional indexes

Imports of the same chain without an index, not even those of [search](search.md), and with each one, in turns. \`cpuSeconds\` counts all
threads; \`timesCpu\` is the middle of the ratios to the run without an index in the same round.

${table(results.indexes)}

## Sync from peers

The same chain over loopback, whole daemons on both ends; on two cores the one that serves takes its share. \`fromFile\`
is \`-loadblock\` of the same file in the same run. Peers that are far away stand behind a line that takes 50 ms each way.

${table(results.peers)}

## Answers over HTTP

\`name_show\` over keep-alive connections beside a server of bare node:http that echoes JSON, in the same run; times in
milliseconds. The client is a process of its own, the same for both. \`whileBlocksConnect\` is the same load while the last
blocks of the chain are submitted.

${table(results.rpc)}

## Turns of the event loop

What a node does in one turn keeps every caller and peer waiting. The delay of a timer of 20 ms (\`svcd_event_loop_delay_seconds\`) shows it, as
the bound of a bucket of the metric: \`turnP999Ms\` is above the delay of 999 turns of 1,000. Beside each work, callers ask for a name as fast as
they are answered.

${table(results.turns)}

## The embedded client

A program that opens an embedded client on a data directory with 601 blocks, each run in a process of its own. \`coldStartMs\` is
from the start of the process to the first name, \`openMs\` from the call that opens the client. Names are resolved over and over,
one after the other and, with promises, a hundred at once.

${table(results.embedded)}

${lightSection(results.light)}
## The mail relay

Messages of 10 kB from several senders at once into a mail server on the same machine that takes everything. A message is taken once it is
on the disk; \`syncedFilesPerSecond\` is what the same disk does with such files one after the other.

${table(results.mail)}

## Names

\`NameDb.resolve\` through the Effect API, on synthetic names.

${table(results.names10k)}

${table(results.names1M)}

## Search

One page of 100 names for each of 400 searches of a kind, expired names included. \`everyName\` is a text that is in every
value, from pages all over the list. \`importSeconds\` is the time of the follower with the indexes, which leaves them to the
background while many names arrive; \`buildSeconds\` is what the background then takes. Goal: p99 < 50 ms, for expiry < 10 ms.

${table(results.search1M)}

## Pages

The pages of the [status page and explorer](status-page.md): those about names in the process, among a million; those about blocks over HTTP, on
the chain of the import, with \`-txindex\`; and \`name_show\` while two readers ask for pages of blocks. Goals: a page of a name or a block < 30 ms
and < 60 kB, \`name_show\` p99 < 5 ms.

${table(results.pages)}

## Events

A replay of all events of names.db in the process and by Server-Sent Events, the second with a reader in another process; CPU
seconds are those of the node. Then 1,000 readers at the tip: the time from the commit of a block of 20 events until a reader has
them, and the memory of the readers. Goals: 100,000/s in the process, 40,000/s over HTTP, p99 < 100 ms, 50 MB.

${table(results.events)}

## Export to PostgreSQL

A first copy of names.db by svcd-export, with a PostgreSQL server on the same cores; CPU seconds are those of the node, of svcd-export
and of its connection's server process until the last block was copied. \`completePerSecond\` has names, keys and all indexes too. Then blocks of 20
operations: the time from their commit in names.db until a reader of PostgreSQL is notified. Then names that one process resolves over
\`svcd/postgres\`, one after the other and for 64 callers.

${table(results.export)}

## Unspent outputs

A search over a million unspent outputs, alone and while callers ask for names as fast as they are answered; a snapshot of as many,
loaded and written again; the files of a node that prunes.

${table(results.scan)}

${table(results.snapshot)}

${table(results.prune)}

## Header tree

${table(results.headerTree)}

## Start

${table(results.start)}
`
