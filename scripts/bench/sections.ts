import { benchCli } from "./cli.ts"
import type { Contender } from "./contender.ts"
import { countOf } from "./counts.ts"
import { benchDns } from "./dns.ts"
import { benchDnsFlood } from "./dnsFlood.ts"
import { benchElectrum } from "./electrum.ts"
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
import { benchState } from "./state.ts"
import { type FlaggedText, TEXTS } from "./texts.ts"
import { benchTurns } from "./turns.ts"

/** A measurement, and its section in docs/performance.md. */
export interface Section extends FlaggedText {
  readonly measure: (options: SectionOptions) => Promise<object>
}

export interface SectionOptions {
  /** The reference node to compare with. */
  readonly against: Contender | undefined
  /** Whether turns beside other programs count. */
  readonly busy: boolean
}

const directoryOf = (file: string): string => file.slice(0, file.lastIndexOf("/"))

const benchPages = async (): Promise<object> => ({
  names: await namePages({ names: 1_000_000 }),
  blocks: await withLoad(({ file, tipHash }) => blockPages({ file, tip: tipHash })),
  besideImport: await withLoad(({ file, tipHash }) => besideImport({ file, tip: tipHash }))
})

const benchNames = async (): Promise<object> => ({
  tenThousand: await benchNameDb({ names: 10_000 }),
  million: await benchNameDb({ names: 1_000_000 })
})

type Flag = typeof TEXTS[number]["flag"]

const MEASUREMENTS: Readonly<Record<Flag, Section["measure"]>> = {
  against: ({ against, busy }) =>
    against === undefined
      ? Promise.resolve({ skipped: "there is no program to compare with: --against PROGRAM" })
      : withLoad(({ file, tipHash }) => benchPairs({ busy, file, other: against, tip: tipHash })),
  import: benchImport,
  growth: () => benchGrowth(),
  indexes: benchIndexes,
  peers: () => withLoad(({ bytes, file, tipHash }) => benchPeers(file, recordsOf(bytes), tipHash)),
  rpc: () => withLoad(({ bytes, file }) => benchRpc(directoryOf(file), recordsOf(bytes))),
  turns: () => withLoad(({ bytes, file }) => benchTurns(directoryOf(file), recordsOf(bytes))),
  embedded: benchEmbedded,
  light: benchLight,
  mail: () => benchMail(3_200),
  names: benchNames,
  search: () => benchSearch({ names: 1_000_000 }),
  expiring: () => benchExpiring({ names: 1_000_000 }),
  pages: benchPages,
  cli: benchCli,
  events: () => benchEvents({ operations: 200_000 }),
  export: () => benchExport({ operations: 400_000 }),
  dns: async () => ({
    ...await benchDns({ names: countOf("--domains", 100_000) }),
    flood: await withLoad(({ bytes, file }) => benchDnsFlood({ file, last: recordsOf(bytes).length - 1 }))
  }),
  electrum: () => withLoad(({ file, tipHash }) => benchElectrum({ file, tip: tipHash })),
  scan: benchScan,
  snapshot: benchSnapshot,
  prune: benchPrune,
  headertree: benchHeaderTree,
  start: benchStart,
  state: () => benchState()
}

/** The measurements, in the order of the page. */
export const SECTIONS: ReadonlyArray<Section> = TEXTS.map((text) => ({ ...text, measure: MEASUREMENTS[text.flag] }))
