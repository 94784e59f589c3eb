import * as Either from "effect/Either"
import type * as Redacted from "effect/Redacted"
import { availableParallelism, homedir } from "node:os"
import { dirname, isAbsolute, join, resolve } from "node:path"
import type { Address } from "../base/addresses.ts"
import { shownPath } from "../base/safeText.ts"
import type { Activation } from "../consensus/params.ts"
import type { NameEncoding } from "../protocol/nameText.ts"
import type { NetworkName } from "../protocol/networks.ts"
import { readArgv } from "./argv.ts"
import type { AssumeValid } from "./chainKinds.ts"
import { CONFIG_FILE, fromFile, readConfigFile } from "./configFile.ts"
import {
  isOptionName,
  type LogFormat,
  type LogLevelName,
  OPTIONS,
  type OptionTable,
  type Subsystem
} from "./options.ts"
import { fromEnvironment, fromFlags, merge, type OptionSource } from "./sources.ts"
import { UsageError } from "./UsageError.ts"
import { decodeValues, type Values } from "./values.ts"

/** Everything a daemon can be told, judged and complete. Paths are absolute. */
export interface Settings {
  readonly network: NetworkName
  readonly dataDir: string
  readonly rpc: Address & { readonly credentials: Credentials | undefined }
  /** Whether the operator allows an RPC listener that others can reach without credentials. */
  readonly allowInsecure: boolean
  /** Requests a minute and client address. 0: the default; -1: no limit (reference/rpc.md 9.1). */
  readonly rateLimit: number
  /** Bytes; 0: the default. */
  readonly maxRequestSize: number
  /** `undefined`: no metrics endpoint. */
  readonly metrics: Address | undefined
  /** Whether browsers are shown a page about the node. */
  readonly statusPage: boolean
  /** Whether `GET /rest/name/` is answered. */
  readonly rest: boolean
  /** `undefined`: listen nowhere, as always when `maxPeers` is 0. */
  readonly listen: Address | undefined
  /** 0: offline, which means no DNS, no calls, no listener. */
  readonly maxPeers: number
  readonly maxInbound: number
  readonly maxOutbound: number
  /** Where not empty, these in place of the peers that DNS names. */
  readonly addPeers: ReadonlyArray<Address>
  /** The SOCKS5 proxy that peers are called through. */
  readonly proxy: Address | undefined
  readonly userAgentComment: string | undefined
  /** Megabytes that the mempool may take. */
  readonly maxMempool: number
  /** Hours. */
  readonly mempoolExpiry: number
  /** Smallest units for 1000 virtual bytes. */
  readonly minRelayFeeRate: number
  readonly persistMempool: boolean
  /** Block files or directories to import, in this order. */
  readonly loadBlocks: ReadonlyArray<string>
  readonly assumeValid: AssumeValid
  /** Worker threads that check scripts; 0: none. */
  readonly verifyThreads: number
  /** Blocks at the end of the chain that are checked at the start, 0 for all, and how thoroughly. */
  readonly checkBlocks: number
  readonly checkLevel: number
  readonly backgroundCheck: boolean
  /** MiB. */
  readonly dbCache: number
  readonly txIndex: boolean
  /** Bytes; of databases made from now on. */
  readonly pageSize: number
  readonly nameHistory: boolean
  readonly nameHashIndex: boolean
  readonly nameEncoding: NameEncoding
  readonly valueEncoding: NameEncoding
  readonly allowExpired: boolean
  readonly disableWallet: boolean
  /** Whether no wallet is loaded at the start. */
  readonly noWallet: boolean
  /** Operations of ours on one name that may wait for a block at once. */
  readonly limitNameChains: number
  readonly logLevel: LogLevelName
  readonly logFormat: LogFormat
  /** Parts whose debug entries are logged whatever `logLevel` is. */
  readonly debugSubsystems: ReadonlyArray<Subsystem>
  /** The file that the log is appended to; `undefined`: standard output. */
  readonly logFile: string | undefined
  /** Heights that replace the network's own. Empty except on regtest. */
  readonly activation: Partial<Activation>
  /** Seconds since 1970 to take as the present time. `undefined` except on regtest. */
  readonly mockTime: number | undefined
}

export interface Credentials {
  readonly user: string
  readonly password: Redacted.Redacted<string>
}

/** What the settings are made from, so that a test needs no process and no files. */
export interface SettingsInput {
  /** Without the program and its script. */
  readonly argv: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string | undefined>>
  /** The text of a file, `undefined` where there is none, on the left why it cannot be read. */
  readonly readFile: (path: string) => Either.Either<string | undefined, string>
  readonly homedir: string
  readonly cwd: string
  /** Processors that can be used. */
  readonly cores: number
}

/** Returns the input that this process was started with. */
export const processInput = (): SettingsInput => ({
  argv: process.argv.slice(2),
  env: process.env,
  readFile: readConfigFile,
  homedir: homedir(),
  cwd: process.cwd(),
  cores: availableParallelism()
})

/** Returns a path as an absolute one; `~` is the home directory, as a shell has it. */
export const absolutePath = (path: string, base: string, home: string): string => {
  if (path === "~") return home
  return path.startsWith("~/") ? join(home, path.slice(2)) : isAbsolute(path) ? resolve(path) : resolve(base, path)
}

/** Where the configuration file is looked for: in the directory that flags, environment or the default name. */
const configFileOf = (input: SettingsInput, ...sources: ReadonlyArray<OptionSource>): string => {
  const given = sources.map((source) => source.get("datadir")).find((found) => found !== undefined)
  const directory = given?.texts.at(-1) ?? OPTIONS.datadir.default
  return join(absolutePath(directory, input.cwd, input.homedir), CONFIG_FILE)
}

/** The sources of a table's options, merged; and the configuration file, whether it is there or not. */
export interface Gathered {
  readonly source: OptionSource
  readonly configFile: string
}

/** Collects what flags, environment and configuration file say. Judges the form of it, not yet the values. */
export const gather = (
  options: OptionTable,
  given: ReadonlyMap<string, ReadonlyArray<string>>,
  input: SettingsInput
): Either.Either<Gathered, UsageError> => {
  const flags = fromFlags(new Map([...given].flatMap(([name, texts]) => isOptionName(name) ? [[name, texts]] : [])))
  const env = fromEnvironment(input.env)
  const configFile = configFileOf(input, flags, env)
  const text = Either.mapLeft(input.readFile(configFile), (why) => [`${shownPath(configFile)} ${why}`])
  return text.pipe(
    Either.flatMap((found) =>
      found === undefined ? Either.right<OptionSource>(new Map()) : fromFile(found, configFile)
    ),
    Either.mapBoth({
      onLeft: (problems) => new UsageError({ problems }),
      onRight: (file) => ({ source: merge(options, { flags, env, file }), configFile })
    })
  )
}

/** Options that name a file or a directory. */
export const PATH_OPTIONS = ["datadir", "logfile", "loadblock"] as const

/** Returns the path that an option names. A relative one in the file is relative to the file, not to the caller. */
export const pathOf = (
  name: (typeof PATH_OPTIONS)[number],
  path: string,
  { configFile, source }: Gathered,
  input: SettingsInput
): string => absolutePath(path, source.get(name)?.inFile === true ? dirname(configFile) : input.cwd, input.homedir)

/** Returns the data directory in force. */
export const dataDirOf = (gathered: Gathered, input: SettingsInput): string =>
  pathOf("datadir", gathered.source.get("datadir")?.texts.at(-1) ?? OPTIONS.datadir.default, gathered, input)

export const credentialsOf = (
  user: string | undefined,
  password: Redacted.Redacted<string> | undefined
): Credentials | undefined => user === undefined || password === undefined ? undefined : { user, password }

const toSettings = (values: Values, gathered: Gathered, input: SettingsInput): Settings => {
  return {
    network: values.network,
    dataDir: dataDirOf(gathered, input),
    rpc: { ...values.rpcaddr, credentials: credentialsOf(values.rpcuser, values.rpcpassword) },
    allowInsecure: values.rpcallowinsecure,
    rateLimit: values.ratelimit,
    maxRequestSize: values.maxrequestsize,
    metrics: values.metricsaddr,
    statusPage: values.statuspage,
    rest: values.rest,
    listen: values.maxpeers === 0 ? undefined : values.listen,
    maxPeers: values.maxpeers,
    maxInbound: values.maxinbound,
    maxOutbound: values.maxoutbound,
    addPeers: values.addpeer,
    proxy: values.proxy,
    userAgentComment: values.uacomment,
    maxMempool: values.maxmempool,
    mempoolExpiry: values.mempoolexpiry,
    minRelayFeeRate: values.minrelaytxfee,
    persistMempool: values.persistmempool,
    loadBlocks: values.loadblock.map((path) => pathOf("loadblock", path, gathered, input)),
    assumeValid: values.assumevalid,
    checkBlocks: values.checkblocks,
    checkLevel: values.checklevel,
    backgroundCheck: values.backgroundcheck,
    verifyThreads: values.verifythreads ?? Math.min(input.cores - 1, MAX_DEFAULT_THREADS),
    dbCache: values.dbcache,
    txIndex: values.txindex,
    pageSize: values.pagesize,
    nameHistory: values.namehistory,
    nameHashIndex: values.namehashindex,
    nameEncoding: values.nameencoding,
    valueEncoding: values.valueencoding,
    allowExpired: values.allowexpired,
    disableWallet: values.disablewallet,
    noWallet: values.nowallet,
    limitNameChains: values.limitnamechains,
    logLevel: values.loglevel,
    logFormat: values.logformat,
    debugSubsystems: values.debugsubsystem,
    logFile: values.logfile === undefined ? undefined : pathOf("logfile", values.logfile, gathered, input),
    // Later mentions of a rule win, as they do upstream.
    activation: Object.fromEntries(
      [...values.testactivationheight, ...values.vbparams].map(({ height, rule }) => [rule, height])
    ),
    mockTime: values.mocktime === 0 ? undefined : values.mocktime
  }
}

/** As many as the reference node takes at most (`validation.h`, `MAX_SCRIPTCHECK_THREADS`). */
const MAX_DEFAULT_THREADS = 15

/** Judges what was gathered: the one decode, whatever the sources. */
export const decodeGathered = (gathered: Gathered, input: SettingsInput): Either.Either<Settings, UsageError> =>
  Either.map(decodeValues(gathered.source), (values) => toSettings(values, gathered, input))

/** Returns the settings in force, or what is wrong with flags, environment or file. */
export const decodeSettings = (input: SettingsInput): Either.Either<Settings, UsageError> => {
  const { given, problems } = readArgv(input.argv, OPTIONS)
  if (problems.length > 0) return Either.left(new UsageError({ problems }))
  return Either.flatMap(gather(OPTIONS, given, input), (gathered) => decodeGathered(gathered, input))
}
