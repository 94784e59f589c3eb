import { benchCli } from "./cli.ts"
import { benchEmbedded } from "./embedded.ts"
import { benchEvents } from "./events.ts"
import { benchExpiring } from "./expiring.ts"
import { benchExport } from "./export.ts"
import { benchGrowth } from "./growth.ts"
import { benchHeaderTree } from "./headerTree.ts"
import { benchImport, benchIndexes } from "./imports.ts"
import { benchLight } from "./light.ts"
import { recordsOf, withLoad } from "./loadChain.ts"
import { benchMail } from "./mail.ts"
import { benchNameDb } from "./nameDb.ts"
import { besideImport, blockPages, namePages } from "./pages.ts"
import { benchPairs } from "./pairs.ts"
import { benchPeers } from "./peers.ts"
import { benchPrune } from "./prune.ts"
import { benchRpc } from "./rpc.ts"
import { benchScan } from "./scan.ts"
import { benchSearch } from "./search.ts"
import { benchSnapshot } from "./snapshot.ts"
import { benchStart } from "./start.ts"
import { benchTurns } from "./turns.ts"

/** A measurement, and its section in docs/performance.md. */
export interface Section {
  /** The option of the bench that selects it. */
  readonly flag: string
  /** The heading of its section. Other pages link to it. */
  readonly title: string
  /** What is measured and how to read the figures, as Markdown. */
  readonly text: string
  readonly measure: (options: SectionOptions) => Promise<object>
}

export interface SectionOptions {
  /** The program to compare with: a `namecoind`, or the `svcd.js` of another build. */
  readonly against: string | undefined
}

const directoryOf = (file: string): string => file.slice(0, file.lastIndexOf("/"))

const benchPages = async (): Promise<object> => ({
  names: await namePages({ names: 1_000_000 }),
  blocks: await withLoad(({ file, tipHash }) => blockPages({ file, tip: tipHash })),
  besideImport: await withLoad(({ file, tipHash }) => besideImport({ file, tip: tipHash })),
  goal:
    "a page of a name or a block < 30 ms and < 60 kB; largest paint < 500 ms; name_show p99 < 5 ms beside pages; import with a reader <= 1.02"
})

const benchNames = async (): Promise<object> => ({
  tenThousand: await benchNameDb({ names: 10_000 }),
  million: await benchNameDb({ names: 1_000_000 })
})

/** The measurements, in the order of the page. */
export const SECTIONS: ReadonlyArray<Section> = [
  {
    flag: "against",
    title: "Beside the reference node",
    text:
      `This build and \`namecoind\` (Namecoin Core, built beside it with its own defaults) in turns, on the chain of the import below, each
with names, their history and without a wallet. \`first\` is the median of svcd, \`second\` that of the other program, \`ratio\` the median
of the ratios of the turns: above 1, svcd costs more. Processor time counts all threads of the program from its start on. \`sync\`
is the download from a reference node; \`syncScriptsAssumed\` is the same with \`-assumevalid\` set to the last block, which both apply to all but
the last two weeks of work. Goals: import, CPU and scripts assumed <= 1.25; import, seconds <= 1.1; peak of the import
<= 200 MB, memory at the tip <= 150 MB; \`name_show\` <= 0.40; sync <= 1.0.`,
    measure: ({ against }) =>
      against === undefined
        ? Promise.resolve({ skipped: "no program to compare with: --against PROGRAM" })
        : withLoad(({ file, tipHash }) => benchPairs({ file, other: against, tip: tipHash }))
  },
  {
    flag: "import",
    title: "Import of a chain",
    text:
      `The chain is regtest-load: 6,000 blocks, half of them merge-mined, 73,857 transactions, 34.8 MB. \`program\` is the whole
daemon from its start until it answers with the last block, every script checked, names indexed. \`milliseconds\` says where the main
thread's time goes: reading, parsing, context-free checks with their hashes, appending to files, connecting, waiting for and
helping with scripts, flushing, followers.`,
    measure: benchImport
  },
  {
    flag: "growth",
    title: "A chain ten times as long",
    text:
      `A generated chain (deterministic; kept outside of the project in \`SVCD_BENCH_CACHE\`, made within some minutes), imported in one process:
processor time of all threads for a block in some tenths of the chain, the memory, the files, and how long it takes to open them again.
Every block has the same work: 11.5 transactions with names on average, 9.2 of them signed.`,
    measure: benchGrowth
  },
  {
    flag: "indexes",
    title: "Optional indexes",
    text:
      `Imports of the same chain without an index, not even those of [search](search.md), with each one and with all, in turns. \`cpuSeconds\` counts all
threads; \`timesCpu\` and \`timesSeconds\` are the middle of the ratios to the run without an index in the same round. Goals: CPU of each <= 1.1,
seconds of all <= 1.1. \`coinStats\`, and therefore all together, stay above it: the set hash takes a product of numbers of 3,072 bits for each coin
that comes or goes. The indexes of search are built in the background, mostly behind an import: the section Search has their time.`,
    measure: benchIndexes
  },
  {
    flag: "peers",
    title: "Sync from peers",
    text:
      `The same chain over loopback, whole daemons on both ends; on two cores the one that serves takes its share. \`fromFile\`
is \`-loadblock\` of the same file in the same run. Peers that are far away stand behind a line that takes 50 ms each way.`,
    measure: () => withLoad(({ bytes, file, tipHash }) => benchPeers(file, recordsOf(bytes), tipHash))
  },
  {
    flag: "rpc",
    title: "Answers over HTTP",
    text:
      `\`name_show\` over keep-alive connections beside a server of bare node:http that echoes JSON, in the same run; times in
milliseconds. The client is a process of its own, the same for both. \`whileBlocksConnect\` is the same load while the last
blocks of the chain are submitted.`,
    measure: () => withLoad(({ bytes, file }) => benchRpc(directoryOf(file), recordsOf(bytes)))
  },
  {
    flag: "turns",
    title: "Turns of the event loop",
    text:
      `What a node does in one turn keeps every caller and peer waiting. The delay of a timer of 20 ms (\`svcd_event_loop_delay_seconds\`) shows it, as
the bound of a bucket of the metric: \`turnP999Ms\` is above the delay of 999 turns of 1,000. Beside each work, callers ask for a name as fast as
they are answered.`,
    measure: () => withLoad(({ bytes, file }) => benchTurns(directoryOf(file), recordsOf(bytes)))
  },
  {
    flag: "embedded",
    title: "The embedded client",
    text:
      `A program that opens an embedded client, of the library as it is installed, on a data directory with 601 blocks, each run in a process of its own. \`coldStartMs\` is
from the start of the process to the first name, \`openMs\` from the call that opens the client. Names are resolved over and over,
one after the other and, with promises, a hundred at once.`,
    measure: benchEmbedded
  },
  {
    flag: "light",
    title: "Light clients",
    text:
      `A client in an empty directory, in a process of its own, with three svcd peers behind one line of 100 Mbit/s, on a chain of mainnet's
shape: 63,500 headers with merged-mining proofs above the anchor, 36,000 blocks with 200,000 operations on names. Client, peers and line
share the cores, so processor time counts: \`cpuSeconds\` is that of each phase. \`firstAnswerSeconds\` is for a name that changed
lately, \`answersSeconds\` until every name is known, \`signaturesSeconds\` until their signatures are checked. \`tipMemoryMB\` is what the
system counts for the process fifteen seconds after the last signature.

\`fullSync\` is a full node on the same chain, with the light part that answers first and without it, in turns:
\`speedBehindLightPart\` compares the blocks after the light part was done, \`speedOfWholeSync\` all of them. The light part takes the same
time on mainnet, whose whole chain takes many times as long.`,
    measure: benchLight
  },
  {
    flag: "mail",
    title: "The mail relay",
    text:
      `Messages of 10 kB from several senders at once into a mail server on the same machine that takes everything. A message is taken once it is
on the disk; \`syncedFilesPerSecond\` is what the same disk does with such files one after the other.`,
    measure: () => benchMail(3_200)
  },
  {
    flag: "names",
    title: "Names",
    text: "`NameDb.resolve` through the Effect API, on synthetic names.",
    measure: benchNames
  },
  {
    flag: "search",
    title: "Search",
    text:
      `One page of 100 names for each of 400 searches of a kind among a million names, expired ones included. \`everyName\` is a text that is in every
value, from pages all over the list. \`importSeconds\` is the time of the follower with the indexes, which leaves them to the
background while many names arrive; \`buildSeconds\` is what the background then takes. Goal: p99 < 50 ms, for expiry < 10 ms.`,
    measure: () => benchSearch({ names: 1_000_000 })
  },
  {
    flag: "expiring",
    title: "Names that expire",
    text:
      `One page of names that expire soon, 400 times for each kind, among a million names: of all owners, of one, and of a full watch list of
10,000 names, first after each of 100 blocks that change 20 of them, then while the block stays. The names are made once, in \`SVCD_BENCH_CACHE\`. Goal: p99 < 10 ms.`,
    measure: () => benchExpiring({ names: 1_000_000 })
  },
  {
    flag: "pages",
    title: "Pages",
    text:
      `The pages of the [status page and explorer](status-page.md): those about names in the process, among a million; those about blocks over HTTP, on
the chain of the import, with \`-txindex\`; and \`name_show\` while two readers ask for pages of blocks. \`kB\` is the largest of the pages in bytes, with style and
script. The names are made once, in \`SVCD_BENCH_CACHE\`. \`paint\` is the largest contentful paint of 20 loads in Chromium on the same machine. \`besideImport\` has whole imports in
pairs, one of them with a reader of the overview, which its script loads every five seconds: CPU seconds of the node until the tip, and the middle of
the ratios. Goals: a page of a name or a block < 30 ms and < 60 kB, largest paint < 500 ms, \`name_show\` p99 < 5 ms, import with a reader <= 1.02.`,
    measure: benchPages
  },
  {
    flag: "cli",
    title: "Commands",
    text:
      `Milliseconds of processor time, user and system, that a call of a program takes, the median of 30, beside a node on regtest that answers. What
svcd-cli keeps of its compiled code is there from earlier calls. \`node -e 0\` is a program that does nothing. Goal: a command of svcd-cli <= 120.`,
    measure: benchCli
  },
  {
    flag: "events",
    title: "Events",
    text:
      `A replay of all events of names.db in the process and by Server-Sent Events, the second with a reader in another process; CPU
seconds are those of the node. Then 1,000 readers at the tip, all in one other process: the time from the commit of a block of 20 events (the last step of connecting a block) until
that process has read them for a reader, which has the time that it needs for the readers before; and the memory that they take in the node. Goals: 100,000/s in the process, 40,000/s over HTTP, p99 < 100 ms, 50 MB.`,
    measure: () => benchEvents({ operations: 200_000 })
  },
  {
    flag: "export",
    title: "Export to PostgreSQL",
    text:
      `A first copy of names.db by svcd-export, with a PostgreSQL server on the same cores; CPU seconds are those of the node, of svcd-export
and of its connection's server process. Both are from the first transaction, of 20,000 operations, until the last block was copied.
\`completePerSecond\` has the start of svcd-export, names, keys and all indexes too; the goal is for the copy without them. Then blocks of 20
operations: the time from their commit in names.db until a reader of PostgreSQL is notified. Then names that one process resolves over
\`svcd/postgres\`, one after the other and for 64 callers. Goals: 50,000/s, 1 s, 5,000/s for 64 callers.`,
    measure: () => benchExport({ operations: 400_000 })
  },
  {
    flag: "scan",
    title: "Unspent outputs",
    text:
      "A search over a million unspent outputs, alone and while callers ask for names as fast as they are answered.",
    measure: benchScan
  },
  {
    flag: "snapshot",
    title: "Snapshots",
    text: "A snapshot of a million unspent outputs, loaded and written again.",
    measure: benchSnapshot
  },
  { flag: "prune", title: "A node that prunes", text: "The files of a node that prunes.", measure: benchPrune },
  { flag: "headertree", title: "Header tree", text: "The block index in memory.", measure: benchHeaderTree },
  {
    flag: "start",
    title: "Start",
    text: "A start on a data directory whose block index has a million headers.",
    measure: benchStart
  }
]
