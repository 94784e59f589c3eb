import * as Either from "effect/Either"
import type * as Redacted from "effect/Redacted"
import * as Struct from "effect/Struct"
import type { Address } from "../base/addresses.ts"
import type { Activation } from "../consensus/params.ts"
import type { Bytes } from "../protocol/bytes.ts"
import type { NameEncoding } from "../protocol/nameText.ts"
import type { NetworkName } from "../protocol/networks.ts"
import type { CallerNet, PermissionSettings } from "./accessKinds.ts"
import { type AlertSettings, alertSettingsOf } from "./alertSettings.ts"
import { readArgv } from "./argv.ts"
import { withBlocksOnly } from "./blocksOnly.ts"
import type { AnchorChoice, AssumeValid } from "./chainKinds.ts"
import { COOKIE_MODES, type CookieSettings, wantsCookie } from "./cookie.ts"
import { translatedFlag } from "./coreFlags.ts"
import { cookiePath, gather, type Gathered, pathOf, type PathOption, type SettingsInput } from "./gather.ts"
import type { HashedUser } from "./hashedUser.ts"
import { NOTIFY_OPTIONS } from "./notifyOptions.ts"
import {
  type LogFormat,
  type LogLevelName,
  type OptionName,
  optionNamesOf,
  OPTIONS,
  type Subsystem
} from "./options.ts"
import { type PeerSettings, peerSettingsOf } from "./peerSettings.ts"
import type { WhitebindEntry, WhitelistEntry } from "./permissions.ts"
import { RELAY_OPTIONS } from "./relayOptions.ts"
import { UsageError } from "./UsageError.ts"
import { decodeValues, type RelayValues, type Values, type WalletValues } from "./values.ts"
import { WALLET_OPTIONS } from "./walletOptions.ts"
import type { WebhookChoice } from "./webhookKinds.ts"
import { type ZmqSettings, zmqSettingsOf } from "./zmqOptions.ts"

/** All settings of a daemon, validated and complete. Paths are absolute. */
export interface Settings extends PeerSettings {
  readonly network: NetworkName
  readonly dataDir: string
  readonly rpc: Address & { readonly credentials: Credentials | undefined }
  /** Users of RPC besides those credentials. */
  readonly hashedUsers: ReadonlyArray<Redacted.Redacted<HashedUser>>
  /** `undefined`: the daemon makes no cookie. */
  readonly cookie: CookieSettings | undefined
  readonly notify: NotifySettings
  readonly webhooks: WebhookChoice
  /** What to publish by ZeroMQ, and where, in the order of `getzmqnotifications`. */
  readonly zmq: ReadonlyArray<ZmqSettings>
  readonly permissions: PermissionSettings
  /** Addresses of the RPC listener besides `rpc`. */
  readonly rpcBinds: ReadonlyArray<Address>
  /** The networks whose callers are answered; empty for all. */
  readonly rpcAllowed: ReadonlyArray<CallerNet>
  /** Calls at one time. */
  readonly rpcWorkQueue: number
  /** Seconds. */
  readonly rpcTimeout: number
  /** Whether each answer is compared with the result that its method documents. */
  readonly rpcDocCheck: boolean
  /** Whether the operator allows an RPC listener that other machines can reach without credentials. */
  readonly allowInsecure: boolean
  /** Requests per minute and client address. 0: the default; -1: no limit (reference/rpc.md 9.1). */
  readonly rateLimit: number
  /** Bytes; 0: the default. */
  readonly maxRequestSize: number
  /** `undefined`: no metrics endpoint. */
  readonly metrics: Address | undefined
  /** Whether the endpoint shows all metrics. */
  readonly metricsDetail: boolean
  readonly statusPage: boolean
  /** The desk, which browsers of other machines may use behind a proxy with TLS; `undefined`: none. */
  readonly desk: { readonly behindProxy: boolean } | undefined
  readonly rest: boolean
  /** `undefined`: no such listener, as always if `maxPeers` is 0. */
  readonly listen: Address | undefined
  /** 0: offline, without DNS, outbound connections or a listener. */
  readonly maxPeers: number
  readonly maxInbound: number
  readonly maxOutbound: number
  /** If not empty, these replace the peers from DNS. */
  readonly addPeers: ReadonlyArray<Address>
  readonly whitelist: ReadonlyArray<WhitelistEntry>
  /** Listeners beside `listen`, whose peers have permissions. Empty if `maxPeers` is 0. */
  readonly whitebind: ReadonlyArray<WhitebindEntry>
  /** Whether whitelisted peers without named permissions get `relay`, and `forcerelay`. */
  readonly whitelistRelay: boolean
  readonly whitelistForceRelay: boolean
  readonly userAgentComments: ReadonlyArray<string>
  /** Maximum megabytes of the mempool. */
  readonly maxMempool: number
  /** Hours. */
  readonly mempoolExpiry: number
  /** Relay policy and mining, with the names and units of the options. */
  readonly relay: RelayValues
  readonly persistMempool: boolean
  /** Block files or directories to import, in this order. */
  readonly loadBlocks: ReadonlyArray<string>
  /** The file of a snapshot of the coins to begin with. */
  readonly loadSnapshot: string | undefined
  /** The hash of the coins of a snapshot that may be loaded, wire order. */
  readonly snapshotHash: Bytes | undefined
  readonly assumeValid: AssumeValid
  readonly sync: Values["sync"]
  /** The block at which the headers of a light chain begin. */
  readonly anchor: AnchorChoice
  /** What to rebuild from the stored blocks; `undefined` for nothing. */
  readonly reindex: "chainstate" | "all" | undefined
  /** Whether the search indexes of names are built again. */
  readonly reindexNames: boolean
  /** Prunes old blocks above this size in MiB, or only on request; `undefined` to keep them. */
  readonly prune: number | "manual" | undefined
  /** Small block files, for tests. */
  readonly fastPrune: boolean
  /** `undefined`: the network's own. */
  readonly minimumChainWork: bigint | undefined
  /** Seconds. */
  readonly maxTipAge: number
  /** Worker threads that check scripts; 0: none. */
  readonly verifyThreads: number
  /** The number of last blocks to check at the start, 0 for all, and the level of the check. */
  readonly checkBlocks: number
  readonly checkLevel: number
  readonly backgroundCheck: boolean
  /** MiB. */
  readonly dbCache: number
  readonly txIndex: boolean
  readonly blockFilterIndex: boolean
  readonly peerBlockFilters: boolean
  readonly coinStatsIndex: boolean
  readonly txoSpenderIndex: boolean
  /** Bytes; only for new databases. */
  readonly pageSize: number
  readonly nameHistory: boolean
  readonly nameHashIndex: boolean
  readonly nameEncoding: NameEncoding
  readonly valueEncoding: NameEncoding
  readonly allowExpired: boolean
  /** What an answer about a name rests on at least, unless its caller says it. */
  readonly requireProof: Values["requireproof"]
  readonly disableWallet: boolean
  readonly noWallet: boolean
  /** Maximum unconfirmed operations of ours on one name. */
  readonly limitNameChains: number
  /** Addresses, fees and coins of wallets, with the names and units of the options. */
  readonly wallet: WalletValues
  readonly alerts: AlertSettings
  readonly logLevel: LogLevelName
  readonly logFormat: LogFormat
  /** Subsystems whose debug entries are logged at any `logLevel`. */
  readonly debugSubsystems: ReadonlyArray<Subsystem>
  /** The file to which the log is appended; `undefined`: standard output. */
  readonly logFile: string | undefined
  /** Heights that replace the network's own. Empty except on regtest. */
  readonly activation: Partial<Activation>
  /** Whether the rule of BIP 94 about time is in force. */
  readonly limitsTimewarp: boolean
  /** Seconds since 1970 to use as the present time. `undefined` except on regtest. */
  readonly mockTime: number | undefined
}

/** The commands to run, with the names of the options. */
export type NotifySettings = Pick<Values, keyof typeof NOTIFY_OPTIONS>

export interface Credentials {
  readonly user: string
  readonly password: Redacted.Redacted<string>
}

/** What the settings depend on beside the values of the options. */
export interface Origin {
  /** Whether the option is not given. */
  readonly isDefault: (name: OptionName) => boolean
  /** An absolute path for that of an option. */
  readonly path: (option: PathOption) => string
  /** The same for a file that is in the data directory unless its path is absolute, as upstream. */
  readonly pathInData: (file: string) => string
  /** Available processors. */
  readonly cores: number
}

export const credentialsOf = (
  user: string | undefined,
  password: Redacted.Redacted<string> | undefined
): Credentials | undefined => user === undefined || password === undefined ? undefined : { user, password }

/** The address of `listen`. Its default does not apply to a node that has other listeners (upstream, `bind_on_any`). */
const listenOf = ({ listen, maxpeers, whitebind }: Values, { isDefault }: Origin): Address | undefined => {
  const replaced = whitebind.length > 0 && isDefault("listen")
  return maxpeers === 0 || replaced ? undefined : listen
}

const toSettings = (
  { alerts, values }: { readonly values: Values; readonly alerts: AlertSettings },
  origin: Origin
): Settings => ({
  network: values.network,
  dataDir: origin.path({ name: "datadir", path: values.datadir }),
  rpc: { ...values.rpcaddr, credentials: credentialsOf(values.rpcuser, values.rpcpassword) },
  hashedUsers: values.rpcauth,
  cookie: wantsCookie(values) && values.rpccookiefile !== undefined
    ? { path: origin.pathInData(values.rpccookiefile), mode: COOKIE_MODES[values.rpccookieperms] }
    : undefined,
  notify: Struct.pick(values, ...optionNamesOf(NOTIFY_OPTIONS)),
  webhooks: { configured: values.webhook, allowPrivate: values.webhookprivate },
  zmq: zmqSettingsOf(values),
  permissions: {
    whitelists: values.rpcwhitelist,
    rights: values.rpcrights,
    byDefault: values.rpcwhitelistdefault
  },
  rpcBinds: values.rpcbind,
  rpcAllowed: values.rpcallowip,
  rpcWorkQueue: values.rpcworkqueue,
  rpcTimeout: values.rpcservertimeout,
  rpcDocCheck: values.rpcdoccheck,
  allowInsecure: values.rpcallowinsecure,
  rateLimit: values.ratelimit,
  maxRequestSize: values.maxrequestsize,
  metrics: values.metricsaddr,
  metricsDetail: values.metricsdetail,
  statusPage: values.statuspage,
  desk: values.webwallet ? { behindProxy: values.webwalletproxy } : undefined,
  rest: values.rest,
  ...peerSettingsOf(values, listenOf(values, origin)),
  listen: listenOf(values, origin),
  maxPeers: values.maxpeers,
  maxInbound: values.maxinbound,
  maxOutbound: values.maxoutbound,
  addPeers: values.addpeer,
  whitelist: values.whitelist,
  whitebind: values.maxpeers === 0 ? [] : values.whitebind,
  whitelistRelay: values.whitelistrelay,
  whitelistForceRelay: values.whitelistforcerelay,
  userAgentComments: values.uacomment,
  maxMempool: values.maxmempool,
  mempoolExpiry: values.mempoolexpiry,
  relay: Struct.pick(values, ...optionNamesOf(RELAY_OPTIONS)),
  persistMempool: values.persistmempool,
  loadBlocks: values.loadblock.map((path) => origin.path({ name: "loadblock", path })),
  loadSnapshot: values.loadsnapshot === undefined
    ? undefined
    : origin.path({ name: "loadsnapshot", path: values.loadsnapshot }),
  snapshotHash: values.snapshothash,
  assumeValid: values.assumevalid,
  sync: values.sync,
  anchor: values.anchor,
  minimumChainWork: values.minimumchainwork,
  maxTipAge: values.maxtipage,
  reindex: values.reindex ? "all" : values["reindex-chainstate"] ? "chainstate" : undefined,
  reindexNames: values.reindexnames,
  prune: values.prune === 0 ? undefined : values.prune === 1 ? "manual" : values.prune,
  fastPrune: values.fastprune,
  checkBlocks: values.checkblocks,
  checkLevel: values.checklevel,
  backgroundCheck: values.backgroundcheck,
  verifyThreads: values.verifythreads ?? Math.min(origin.cores - 1, MAX_DEFAULT_THREADS),
  dbCache: values.dbcache,
  txIndex: values.txindex,
  blockFilterIndex: values.blockfilterindex !== "0",
  peerBlockFilters: values.peerblockfilters,
  coinStatsIndex: values.coinstatsindex,
  txoSpenderIndex: values.txospenderindex,
  pageSize: values.pagesize,
  nameHistory: values.namehistory,
  nameHashIndex: values.namehashindex,
  nameEncoding: values.nameencoding,
  valueEncoding: values.valueencoding,
  allowExpired: values.allowexpired,
  requireProof: values.requireproof,
  disableWallet: values.disablewallet,
  noWallet: values.nowallet,
  limitNameChains: values.limitnamechains,
  wallet: Struct.pick(values, ...optionNamesOf(WALLET_OPTIONS)),
  alerts,
  logLevel: values.loglevel,
  logFormat: values.logformat,
  debugSubsystems: values.debugsubsystem,
  logFile: values.logfile === undefined
    ? undefined
    : origin.path({ name: "logfile", path: values.logfile }),
  // The last option for a rule wins, as upstream.
  activation: Object.fromEntries(
    [...values.testactivationheight, ...values.vbparams].map(({ height, rule }) => [rule, height])
  ),
  limitsTimewarp: values.test.includes("bip94"),
  mockTime: values.mocktime === 0 ? undefined : values.mocktime
})

/** The maximum of the reference node (`validation.h`, `MAX_SCRIPTCHECK_THREADS`). */
const MAX_DEFAULT_THREADS = 15

/** The settings of decoded values, the same way for all sources. */
export const settingsOf = (values: Values, origin: Origin): Either.Either<Settings, UsageError> =>
  alertSettingsOf(values).pipe(
    Either.map((alerts) => toSettings({ values: withBlocksOnly(values, origin), alerts }, origin)),
    Either.filterOrLeft(
      ({ blockFilterIndex, peerBlockFilters }) => blockFilterIndex || !peerBlockFilters,
      () => new UsageError({ problems: ["Cannot set -peerblockfilters without -blockfilterindex."] })
    )
  )

/** Validates the collected options. */
export const decodeGathered = (gathered: Gathered, input: SettingsInput): Either.Either<Settings, UsageError> =>
  Either.flatMap(decodeValues(gathered.source), (values) =>
    settingsOf(values, {
      isDefault: (name) => gathered.source.get(name)?.from === "default",
      path: (option) => pathOf(option, gathered, input),
      pathInData: (file) => cookiePath(file, gathered, input),
      cores: input.cores
    }))

/** Returns the settings in force, or the errors in flags, environment or file. */
export const decodeSettings = (input: SettingsInput): Either.Either<Settings, UsageError> => {
  const { given, problems } = readArgv(input.argv, OPTIONS)
  if (problems.length > 0) return Either.left(new UsageError({ problems: problems.map(translatedFlag) }))
  return Either.flatMap(gather(OPTIONS, given, input), (gathered) => decodeGathered(gathered, input))
}
