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
      `This build and \`namecoind\` (Namecoin Core, built on the same machine with its own defaults) take turns on the chain of the import below, both
with names and their history and without a wallet. \`first\` is the median of svcd, \`second\` that of the other program, \`ratio\` the median
ratio of the turns; above 1, svcd costs more. CPU time includes all threads of the program from its start. \`sync\`
is the download from a reference node. In \`importScriptsAssumed\` and \`syncScriptsAssumed\`, \`-assumevalid\` is the last block; both programs apply it to
all but the last two weeks of work. \`memoryAtTipMB\` is the resident memory a minute after the import. \`longImport\` is one import each of a generated regtest chain with
60,000 blocks and 748,684 transactions with names, with every script checked.

A turn starts when other programs on the machine use less than a fifth of a core. Turns with more load before or during the work are discarded
(\`turnsLeftOut\`). \`foreignCores\` is the highest average load of other programs during a counted measurement.`,
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
daemon from its start until it answers with the last block, with every script checked and names indexed. \`milliseconds\` breaks down the main
thread's time: reading, parsing, context-free checks and hashes, appending to files, connecting, waiting for and
helping with scripts, flushing, followers. \`checked\` is the import alone in a separate process, on all cores, with the V8 limits of svcd. \`checkedOneThread\` is the same without
worker threads, and \`scriptsAssumed\` the same without script checks. \`assumedToChecked\` is the speed of \`scriptsAssumed\` relative to \`checked\`.

\`parse\` reads the blocks and computes transaction ids and merkle roots. It is compared with hashing alone: the same double SHA-256 over the
same bytes, once with the function of Node.js (\`nativeHashSeconds\`) and once with that of svcd (\`ownHashSeconds\`), which is faster. \`ratioToNative\` and
\`ratioToOwn\` are these times divided by the time of parsing. At 1, parsing costs no more than the hashes.`,
    goals: [["assumedToChecked", ">=", 3], ["*.peakMemoryMB", "<=", 200], ["parse.ratioToNative", ">=", 0.5]]
  },
  {
    flag: "growth",
    title: GROWTH_TITLE,
    text:
      `A generated chain, imported in one process. The chain is deterministic, takes a few minutes to generate and is kept outside the project, in \`SVCD_BENCH_CACHE\`. The
figures are the CPU time of all threads per block in several tenths of the chain, the resident memory after each, and the peak memory. All blocks
need the same work: 11.5 transactions with names on average, 9.2 of them signed. Then the chain is imported in parts, with scripts assumed valid.
\`diskToBlocks\` is the size of all files divided by the size of the blocks so far, and \`openSeconds\` the time until a new process has opened
the files and knows the tip. \`lastToSecond\` is the ratio of the last tenth to the second; at 1, the figure does not grow with the chain.`,
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
      `Imports of the same chain, in turns: without any index (even those of [search](search.md)), with each one, and with all. \`cpuSeconds\` includes all
threads. \`timesCpu\` and \`timesSeconds\` are median ratios to the run without an index in the same round.
\`coinStats\` costs more than the others, because the set hash multiplies numbers of 3,072 bits for each created or
spent coin. The search indexes are built in the background, mostly after an import; the Search section has their time.`,
    goals: [["*.timesCpu", "<=", 1.1], ["all.timesSeconds", "<=", 1.1]]
  },
  {
    flag: "peers",
    title: "Sync from peers",
    text:
      `The same chain over loopback, with whole daemons on both ends, so on two cores the serving daemon takes its share. \`fromFile\`
is \`-loadblock\` of the same file in the same run. Far peers are behind a link with a delay of 50 ms each way.`,
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
      `\`name_show\` over keep-alive connections, compared in the same run with a bare node:http server that echoes JSON. Times are in
milliseconds. Both servers have the same client, in a separate process. \`whileBlocksConnect\` is the same load while the last
blocks of the chain are submitted. \`toBareEcho\` is the rate of \`nameShow\` divided by that of \`bareEcho\`; above 1, svcd is
faster than the bare server.`,
    goals: [["toBareEcho", ">=", 0.75], ["namesInBatchesToSingle", ">=", 3], ["whileBlocksConnect.p99", "<", 5]]
  },
  {
    flag: "turns",
    title: "Turns of the event loop",
    text:
      `During a long turn of the event loop, all callers and peers wait. A 1 ms timer in the node measures turns: 1 of 1,000 \`samples\` exceeds \`turnP999Ms\`,
and \`longestTurnMs\` is the longest turn. \`turnCpuP999Ms\` and \`longestTurnCpuMs\` are the CPU time
of the main thread between two runs of that timer, which other programs do not affect. During each kind of work, callers request names as fast as they get answers
(\`nameShow\`). \`checkpoint\` connects blocks continuously until the write-ahead log of names.db has been copied into the file. \`mempool\` lists the transactions
of 100 disconnected blocks. \`start\` ends when the node answers; its longest turn loads the program. \`import\` begins after it.`,
    goals: [["*.turnP999Ms", "<=", 20], ["*.turnCpuP999Ms", "<=", 20], ["*.nameShow.p99", "<", 5]]
  },
  {
    flag: "embedded",
    title: "The embedded client",
    text:
      `A program opens an embedded client of the installed library on a data directory with 601 blocks, in a new process for each run. \`coldStartMs\` is the time
from the start of the process to the first name, \`openMs\` the time from the call that opens the client. Then names are resolved repeatedly,
one after the other and, with promises, a hundred at once.`,
    goals: [["coldStartMs", "<=", 700], ["effectPerSecond", ">=", 50_000], ["promisesPerSecond", ">=", 25_000]]
  },
  {
    flag: "light",
    title: "Light clients",
    text:
      `A client in an empty directory and a separate process, with three svcd peers behind one link of 100 Mbit/s. The chain is shaped like
mainnet: 63,500 headers with merged-mining proofs above the anchor, and 36,000 blocks with 200,000 name operations. Client, peers and link
share the cores, so compare CPU times: \`cpuSeconds\` has them for each phase. \`firstAnswerSeconds\` is the time until a recently changed name
is known, \`answersSeconds\` until every name is known, \`signaturesSeconds\` until all signatures are checked. \`tipMemoryMB\` is the resident
memory of the process fifteen seconds after the last signature.

\`fullSync\` is a full node on the same chain, in turns with and without the light start.
\`speedBehindLightPart\` compares the blocks after the end of the light start, \`speedOfWholeSync\` all of them. On mainnet, the light start takes the same
time, but the whole chain takes many times as long.`,
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
      `Messages of 10 kB from several concurrent senders, forwarded to a mail server on the same machine that accepts everything. A message counts as taken once it is
on the disk. \`syncedFilesPerSecond\` is the rate at which the same disk syncs such files sequentially.`
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
      `One page of 100 names for each of 400 searches per kind, among a million names, expired ones included. \`everyName\` searches for a text that is in every
value, and reads pages across the whole list. \`importSeconds\` is the time of the follower, which defers the indexes to the
background while many names arrive. \`buildSeconds\` is the time that the background then needs.`,
    goals: [["*.p99Milliseconds", "<", 50], ["expiring.p99Milliseconds", "<", 10]]
  },
  {
    flag: "expiring",
    title: "Names that expire",
    text:
      `One page of names that expire soon, 400 times for each kind, among a million names: for all owners, for one owner, and for a full watch list of
10,000 names. The list is read after each of 100 blocks that change 20 of its names, and again without a new block. The names are generated once, in \`SVCD_BENCH_CACHE\`.`,
    goals: [["*.p99Milliseconds", "<", 10]]
  },
  {
    flag: "pages",
    title: "Pages",
    text:
      `The pages of the [status page and explorer](status-page.md). Pages about names are rendered in the process, among a million names; pages about blocks are read over HTTP, on
the chain of the import with \`-txindex\`. \`nameShow\` measures \`name_show\` alone and while two readers load pages of blocks. \`kB\` is the size of the largest page, including style and
script. The names are generated once, in \`SVCD_BENCH_CACHE\`. \`paint\` is the largest contentful paint of 20 loads in Chromium on the same machine. \`besideImport\` compares
pairs of whole imports, one of them with an open overview page that reloads every five seconds: the CPU seconds of the node until the tip, and the median
ratio.`,
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
      `Median CPU time (user and system) and elapsed time of 30 runs of each program, in milliseconds, with a running regtest node. The compile cache of
svcd-cli is warm. \`node -e 0\` is a program that does nothing.
\`svcdFirstAnswerMilliseconds\` is the time from the start of svcd on an existing directory to its first answer.`,
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
      `A replay of all events of names.db, first in the process, then by Server-Sent Events to a reader in another process. CPU
seconds are those of the node. Then 1,000 readers, all in one other process, follow the tip: the figures are the time from the commit of a block with 20 events (the last step of connecting it) until
that process has read them for each reader, including its work for earlier readers, and the memory that the readers take in the node.`,
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
      `A first copy of names.db by svcd-export, with a PostgreSQL server on the same cores. CPU seconds are those of the node, of svcd-export
and of the PostgreSQL process of its connection. Times run from the first transaction, of 20,000 operations, until the last block is copied.
\`completePerSecond\` also includes the start of svcd-export, names, keys and all indexes; the goal is for the copy without them. Then blocks of 20
operations: the time from their commit in names.db until a reader of PostgreSQL is notified. Then one process resolves names over
\`svcd/postgres\`, sequentially and for 64 concurrent callers.`,
    goals: [["backfill.copiedPerSecond", ">=", 50_000], ["lagAtTheTip.p99Milliseconds", "<", 1_000], [
      "resolvedPerSecond.callers64",
      ">=",
      5_000
    ]]
  },
  {
    flag: "dns",
    title: "DNS",
    text:
      `The DNS server over 100,000 names (\`--domains\`), signed, in a process of its own, and NSD with one process and the same records
unsigned. dnsperf asks them in turns with the same options: 4 clients, 200 questions under way, EDNS. \`hot\` is 20,000 names over and over, \`cold\`
each of the other names once since svcd started. \`ratio\` is the median of the turns' ratios; above 1, svcd answers more. \`nsdCpuToSvcdCpu\` is the
same of the processor time, which other programs of the machine change less. \`floor\` is a program without code of svcd that sends one answer to all
questions from one socket of node:dgram; for the cold set, it first reads the value of each name with one SELECT. \`floorRatio\` and \`nsdCpuToFloorCpu\` compare
this program with NSD as \`ratio\` and \`nsdCpuToSvcdCpu\` compare svcd, and \`floorCpuToSvcdCpu\` compares it with svcd
([decision 32](decisions/0032-dns-in-one-node-process.md)). \`dnssecCached\` is the hot set with DO, and \`dnssecMissing\` 20,000 names that nobody has, each once, with DO: svcd signs each denial. \`cpuSecondsPer100000\` is the
processor time of the server for 100,000 questions. \`halfLoadMilliseconds\` are the times of answers at half of the measured load, and \`nsdP99\` and
\`floorP99\` those of NSD and of the program on one socket at the same rates: what dnsperf and the machine take by themselves.
\`flood\` is \`name_show\` over HTTP without and with 100,000 questions a second for one name, from 20 networks of loopback and with \`-dnsrate 20\`: few
are answered.`,
    goals: [
      ["hot.ratio", ">=", 0.9],
      ["cold.ratio", ">=", 0.35],
      ["dnssecCached.perSecond", ">=", 55_000],
      [
        "dnssecMissing.perSecond",
        ">=",
        8_000
      ],
      ["halfLoadMilliseconds.*.p99", "<", 2],
      ["flood.during.p99", "<", 50]
    ]
  },
  {
    flag: "electrum",
    title: "Electrum clients",
    text:
      `The [Electrum server](electrum.md) of a node with the chain of the import, over TCP; the clients are one process on another core. \`resolveMilliseconds\` is
the time of a session with four calls, from the connection to the last answer: version, history of a name, its transaction, tip. \`histories\` and \`proofs\` (\`get_value_proof\`)
are asked for in 16 sessions, each as fast as it is answered; \`perCpuSecond\` counts the processor time of the node. \`nameShowP99\` is \`name_show\` over HTTP in milliseconds, in turns
alone, beside 1,000 sessions that ask for a history every second, and while they ask another node (\`elsewhere\`): with two cores, callers and sessions share
one, whichever node is asked. \`ratio\` (to alone) and \`toElsewhere\` are medians of the turns. \`idle\` and \`followed\` are a server over 2,000 synthetic names in a process of
its own: the resident memory that idle sessions take, and the time from the commit of a block that changes all these names until the last of 20 clients
that follow them has read the last new status.`,
    goals: [
      ["resolveMilliseconds.p99", "<", 10],
      ["histories.perCpuSecond", ">=", 10_000],
      ["proofs.perCpuSecond", ">=", 2_000],
      ["nameShowP99.ratio", "<=", 1.2],
      ["idle.megabytes", "<", 300],
      ["followed.maxMilliseconds", "<", 200]
    ]
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
      `The block index in memory, for a chain of synthetic headers. \`exactMemory\` is true if garbage was collected before memory was measured. \`hashShareOfInsert\`
is the share of the insertion time spent on hashing the headers.`,
    goals: [["memoryMB", "<", 250]]
  },
  {
    flag: "start",
    title: "Start",
    text: "A start on a data directory whose block index has a million headers.",
    goals: [["seconds", "<", 2]]
  }
] as const satisfies ReadonlyArray<FlaggedText>
