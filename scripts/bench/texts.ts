import { GROWTH_TITLE, REFERENCE_TITLE } from "./bars.ts"
import type { SectionText } from "./report.ts"

/** A section of the page, and the option of the bench that selects it. Other pages link to its title. */
export interface FlaggedText extends SectionText {
  readonly flag: string
}

/** The sections, in the order of the page. */
export const TEXTS = [
  {
    flag: "against",
    title: REFERENCE_TITLE,
    text:
      `This build and \`namecoind\` (Namecoin Core, built beside it with its own defaults) in turns, on the chain of the import below, each
with names, their history and without a wallet. \`first\` is the median of svcd, \`second\` that of the other program, \`ratio\` the median
of the ratios of the turns: above 1, svcd costs more. Processor time counts all threads of the program from its start on. \`sync\`
is the download from a reference node; \`importScriptsAssumed\` and \`syncScriptsAssumed\` have \`-assumevalid\` set to the last block, which both apply to
all but the last two weeks of work. \`memoryAtTipMB\` is resident a minute after the import. \`longImport\` is one import by each of a generated chain of
60,000 blocks by the rules of regtest, 748,684 transactions with names, every script checked.

A turn begins when other programs of the machine use less than a fifth of a core. \`turnsLeftOut\` had more of them before or meanwhile, and do not
count; \`foreignCores\` is the most that they used, on average, during a piece of work that counts.`,
    goals: [
      ["import.cpuSeconds.ratio", "<=", 1.25],
      ["import.seconds.ratio", "<=", 1.1],
      ["importScriptsAssumed.cpuSeconds.ratio", "<=", 1.25],
      ["import.peakMemoryMB.first", "<=", 200],
      ["memoryAtTipMB.first", "<=", 150],
      ["nameShowCpuMicroseconds.ratio", "<=", 0.4],
      ["sync.cpuSeconds.ratio", "<=", 1],
      ["sync.seconds.ratio", "<=", 1]
    ]
  },
  {
    flag: "import",
    title: "Import of a chain",
    text:
      `The chain is regtest-load: 6,000 blocks, half of them merge-mined, 73,857 transactions, 34.8 MB. \`program\` is the whole
daemon from its start until it answers with the last block, every script checked, names indexed. \`milliseconds\` says where the main
thread's time goes: reading, parsing, context-free checks with their hashes, appending to files, connecting, waiting for and
helping with scripts, flushing, followers. \`checked\` is the import in a process of its own, under the bounds of V8 that svcd sets, on all cores; \`checkedOneThread\` the same without
worker threads; \`scriptsAssumed\` leaves the scripts out. \`assumedToChecked\` is how many times as fast the last is as the first.

\`parse\` reads the blocks and makes the ids of transactions and the merkle roots, beside hashing alone: the same double SHA-256 over the
same bytes, once by the function of Node.js (\`nativeHashSeconds\`) and once by that of svcd (\`ownHashSeconds\`), which takes less. \`ratioToNative\` and
\`ratioToOwn\` are these times divided by the time of parsing: 1 says that parsing costs nothing but the hashes.`,
    goals: [["assumedToChecked", ">=", 3], ["*.peakMemoryMB", "<=", 200], ["parse.ratioToNative", ">=", 0.5]]
  },
  {
    flag: "growth",
    title: GROWTH_TITLE,
    text:
      `A generated chain (deterministic; kept outside of the project in \`SVCD_BENCH_CACHE\`, made within some minutes), imported in one process:
processor time of all threads for a block in some tenths of the chain, resident memory after them, and the peak that the system counts. Every block
has the same work: 11.5 transactions with names on average, 9.2 of them signed. Then the chain is imported in parts, with scripts assumed:
\`diskToBlocks\` is the bytes of all files divided by those of the blocks so far, \`openSeconds\` the time until a new process has opened
the files and knows the tip. \`lastToSecond\` is the last tenth to the second: 1 says that a figure does not grow with the chain.`,
    goals: [["lastTenthToSecond", "<=", 1.15], ["memoryMB.peak", "<=", 250], ["*.lastToSecond", "<=", 1.15]]
  },
  {
    flag: "state",
    title: "A state of millions",
    text:
      `A data directory with 1,000,000 headers, 5,000,000 unspent outputs and 1,000,000 names in them, generated once and kept in \`SVCD_BENCH_CACHE\`:
\`start\` is from the call of the program until RPC answers with all headers; memory is resident 20 seconds after a start, and after 5,000 lookups of each kind
over HTTP, one after the other: of an unspent output (\`gettxout\`), of a name (\`name_show\`) and of a header (\`getblockheader\`).`,
    goals: [["start.seconds", "<", 2], ["lookup.*.p99Milliseconds", "<", 5]]
  },
  {
    flag: "indexes",
    title: "Optional indexes",
    text:
      `Imports of the same chain without an index, not even those of [search](search.md), with each one and with all, in turns. \`cpuSeconds\` counts all
threads; \`timesCpu\` and \`timesSeconds\` are the middle of the ratios to the run without an index in the same round.
\`coinStats\`, and therefore all together, cost more than the others: the set hash takes a product of numbers of 3,072 bits for each coin
that comes or goes. The indexes of search are built in the background, mostly behind an import: the section Search has their time.`,
    goals: [["*.timesCpu", "<=", 1.1], ["all.timesSeconds", "<=", 1.1]]
  },
  {
    flag: "peers",
    title: "Sync from peers",
    text:
      `The same chain over loopback, whole daemons on both ends; on two cores the one that serves takes its share. \`fromFile\`
is \`-loadblock\` of the same file in the same run. Distant peers are behind a link with 50 ms of delay each way.`,
    goals: [
      ["onePeer.toFile", "<=", 1.3],
      ["threeFarPeers.toFile", "<=", 1.5],
      ["oneOfThreeStalls.toFile", "<=", 1.7],
      ["twentySendGarbage.toOnePeer", "<=", 2],
      ["hundredIdlePeers.costMB", "<", 60],
      ["headers.headersPerSecond", ">=", 10_000]
    ]
  },
  {
    flag: "rpc",
    title: "Answers over HTTP",
    text:
      `\`name_show\` over keep-alive connections beside a server of bare node:http that echoes JSON, in the same run; times in
milliseconds. The client is a process of its own, the same for both. \`whileBlocksConnect\` is the same load while the last
blocks of the chain are submitted. \`toBareEcho\` is the answers a second of \`nameShow\` divided by those of \`bareEcho\`; above 1, svcd answers
faster than the bare server.`,
    goals: [["toBareEcho", ">=", 0.75], ["namesInBatchesToSingle", ">=", 3], ["whileBlocksConnect.p99", "<", 5]]
  },
  {
    flag: "turns",
    title: "Turns of the event loop",
    text:
      `What a node does in one turn keeps every caller and peer waiting. A timer of a millisecond in the node shows it: \`turnP999Ms\` is the delay that 1
of 1,000 \`samples\` exceeds, \`longestTurnMs\` the longest one. \`turnCpuP999Ms\` and \`longestTurnCpuMs\` are processor time
of the main thread between two runs of that timer, which other programs do not lengthen. Beside each work, callers ask for a name as fast as they are answered
(\`nameShow\`). \`checkpoint\` connects blocks without a pause until the log of names.db was copied into the file; \`mempool\` lists the transactions
of 100 disconnected blocks. \`start\` is the time until the node answers: its longest turn loads the program. \`import\` begins behind it.`,
    goals: [["*.turnP999Ms", "<=", 20], ["*.turnCpuP999Ms", "<=", 20], ["*.nameShow.p99", "<", 5]]
  },
  {
    flag: "embedded",
    title: "The embedded client",
    text:
      `A program that opens an embedded client, of the library as it is installed, on a data directory with 601 blocks, each run in a process of its own. \`coldStartMs\` is
from the start of the process to the first name, \`openMs\` from the call that opens the client. Names are resolved over and over,
one after the other and, with promises, a hundred at once.`,
    goals: [["coldStartMs", "<=", 700], ["effectPerSecond", ">=", 50_000], ["promisesPerSecond", ">=", 25_000]]
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
    goals: [
      ["answersSeconds", "<=", 25],
      ["answersWorst", "<=", 60],
      ["firstAnswerSeconds", "<=", 12],
      ["diskMB", "<=", 150],
      ["peakMemoryMB", "<=", 300],
      ["tipMemoryMB", "<=", 150],
      ["resolvesPerSecond", ">=", 100_000],
      ["fullSync.speedBehindLightPart", ">=", 0.95]
    ]
  },
  {
    flag: "mail",
    title: "The mail relay",
    text:
      `Messages of 10 kB from several senders at once into a mail server on the same machine that takes everything. A message is taken once it is
on the disk; \`syncedFilesPerSecond\` is what the same disk does with such files one after the other.`
  },
  {
    flag: "names",
    title: "Names",
    text: "`NameDb.resolve` through the Effect API, on synthetic names.",
    goals: [["*.warmPerSecond", ">=", 100_000], ["*.coldPerSecond", ">=", 15_000], ["*.*.p99Microseconds", "<", 100]]
  },
  {
    flag: "search",
    title: "Search",
    text:
      `One page of 100 names for each of 400 searches of a kind among a million names, expired ones included. \`everyName\` is a text that is in every
value, from pages all over the list. \`importSeconds\` is the time of the follower with the indexes, which leaves them to the
background while many names arrive; \`buildSeconds\` is what the background then takes.`,
    goals: [["*.p99Milliseconds", "<", 50], ["expiring.p99Milliseconds", "<", 10]]
  },
  {
    flag: "expiring",
    title: "Names that expire",
    text:
      `One page of names that expire soon, 400 times for each kind, among a million names: of all owners, of one, and of a full watch list of
10,000 names, first after each of 100 blocks that change 20 of them, then while the block stays. The names are made once, in \`SVCD_BENCH_CACHE\`.`,
    goals: [["*.p99Milliseconds", "<", 10]]
  },
  {
    flag: "pages",
    title: "Pages",
    text:
      `The pages of the [status page and explorer](status-page.md): those about names in the process, among a million; those about blocks over HTTP, on
the chain of the import, with \`-txindex\`; and \`name_show\` while two readers ask for pages of blocks. \`kB\` is the largest of the pages in bytes, with style and
script. The names are made once, in \`SVCD_BENCH_CACHE\`. \`paint\` is the largest contentful paint of 20 loads in Chromium on the same machine. \`besideImport\` has whole imports in
pairs, one of them with a reader of the overview, which its script loads every five seconds: CPU seconds of the node until the tip, and the middle of
the ratios.`,
    goals: [
      ["names.*.p99Milliseconds", "<", 30],
      ["blocks.*.p99Milliseconds", "<", 30],
      ["*.*.kB", "<", 60],
      ["blocks.paint.*.worstMilliseconds", "<", 500],
      ["blocks.nameShow.busy.p99Milliseconds", "<", 5],
      ["besideImport.ratio", "<=", 1.02]
    ]
  },
  {
    flag: "cli",
    title: "Commands",
    text:
      `Milliseconds that a call of a program takes, of processor time (user and system) and by the clock, the median of 30, beside a node on regtest that
answers. What svcd-cli keeps of its compiled code is there from earlier calls. \`node -e 0\` is a program that does nothing.
\`svcdFirstAnswerMilliseconds\` is from the start of svcd on an existing directory to its first answer.`,
    goals: [["cpuMilliseconds.svcd-cli *", "<=", 120], ["milliseconds.svcd-cli getblockcount", "<=", 100], [
      "svcdFirstAnswerMilliseconds",
      "<=",
      600
    ]]
  },
  {
    flag: "events",
    title: "Events",
    text:
      `A replay of all events of names.db in the process and by Server-Sent Events, the second with a reader in another process; CPU
seconds are those of the node. Then 1,000 readers at the tip, all in one other process: the time from the commit of a block of 20 events (the last step of connecting a block) until
that process has read them for a reader, which has the time that it needs for the readers before; and the memory that they take in the node.`,
    goals: [["inProcess.perSecond", ">=", 100_000], ["overHttp.perSecond", ">=", 40_000], [
      "atTheTip.p99Milliseconds",
      "<",
      100
    ], ["atTheTip.megabytes", "<=", 50]]
  },
  {
    flag: "export",
    title: "Export to PostgreSQL",
    text:
      `A first copy of names.db by svcd-export, with a PostgreSQL server on the same cores; CPU seconds are those of the node, of svcd-export
and of its connection's server process. Both are from the first transaction, of 20,000 operations, until the last block was copied.
\`completePerSecond\` has the start of svcd-export, names, keys and all indexes too; the goal is for the copy without them. Then blocks of 20
operations: the time from their commit in names.db until a reader of PostgreSQL is notified. Then names that one process resolves over
\`svcd/postgres\`, one after the other and for 64 callers.`,
    goals: [["backfill.copiedPerSecond", ">=", 50_000], ["lagAtTheTip.p99Milliseconds", "<", 1_000], [
      "resolvedPerSecond.callers64",
      ">=",
      5_000
    ]]
  },
  {
    flag: "scan",
    title: "Unspent outputs",
    text:
      "A search over a million unspent outputs, alone and while callers ask for names as fast as they are answered.",
    goals: [["aloneSeconds", "<", 3], ["nameShowMeanwhile.p99", "<", 10]]
  },
  {
    flag: "snapshot",
    title: "Snapshots",
    text: "A snapshot of a million unspent outputs, loaded and written again.",
    goals: [["loadedPerSecond", ">=", 200_000], ["dumpedPerSecond", ">=", 200_000]]
  },
  {
    flag: "prune",
    title: "A node that prunes",
    text: "The files of a node that prunes.",
    goals: [["most", "<=", 614]]
  },
  {
    flag: "headertree",
    title: "Header tree",
    text:
      `The block index in memory, as a chain of synthetic headers. \`exactMemory\` says that the garbage was collected before memory was read;
otherwise it counts too. \`hashShareOfInsert\` is the part of the time of inserting that hashes the headers.`,
    goals: [["memoryMB", "<", 250]]
  },
  {
    flag: "start",
    title: "Start",
    text: "A start on a data directory whose block index has a million headers.",
    goals: [["seconds", "<", 2]]
  }
] as const satisfies ReadonlyArray<FlaggedText>
