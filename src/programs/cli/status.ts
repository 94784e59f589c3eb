import * as Effect from "effect/Effect"
import { formatHostPort } from "../../base/addresses.ts"
import { unixTime } from "../../base/clock.ts"
import { cliOf } from "../../base/ownerCommands.ts"
import { dayText, grouped, quantityOf, shortNumber, sizeText, spanText } from "../../base/quantities.ts"
import { BEYOND_REMEDY, beyondText, FEW_REMEDY, fewLeftText } from "../../base/recoveryWords.ts"
import { UNSEEN_WORDS } from "../../base/recoveryWords.ts"
import type { ConnectionSettings } from "../../config/connection.ts"
import { EXPIRATION_DEPTH, REGTEST_EXPIRATION_DEPTH } from "../../consensus/expiry.ts"
import { networkOfChain } from "../../protocol/chainNames.ts"
import { nowWithin, soonWithin } from "../../protocol/soon.ts"
import { type Json, JsonNumber } from "../../rpc/json/json.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import { askEach, BLOCK_SECONDS } from "./ask.ts"
import type { Daemon } from "./daemon.ts"
import { at, indented, numberAt, objectOf, spelledAt, textAt, textsOf } from "./jsonText.ts"
import { ofWallet, type Screen } from "./outcome.ts"
import { alertLine, ALERTS_IN_HEX, alertsOf, needsOwner, toldOutlook } from "./outlooks.ts"
import {
  IN_HEX,
  isAlive,
  type OwnedName,
  ownedNames,
  type OwnNameEntry,
  ownNamesOf,
  renewalOf,
  RENEWALS_IN_HEX,
  shownBytes
} from "./ownNames.ts"
import { hasChain, hasLastBlocksAlone, isOffline, isReady, NO_PEERS_WANTED, scanRows, syncRows } from "./syncRows.ts"
import { type Colour, labelled } from "./table.ts"
import { shownText } from "./textWidth.ts"

type Answer = Json | undefined

/** The daemon's responses; `undefined` for methods that the daemon lacks. */
export interface StatusAnswers {
  readonly chain: Json
  readonly sync: Answer
  readonly network: Answer
  readonly mempool: Answer
  readonly uptime: Answer
  readonly wallets: Answer
  readonly balances: Answer
  readonly wallet: Answer
  readonly names: Answer
  readonly renewals: Answer
  readonly alerts: Answer
  readonly registrations: Answer
  /** The start of suggested commands: `svcd-cli`, with the wallet if there are several. */
  readonly cli: string
  /** Unix time in seconds. */
  readonly now: number
}

/** Fails if the daemon does not even report its chain. */
export const gatherStatus = (daemon: Daemon): Effect.Effect<StatusAnswers, RpcClientError> =>
  Effect.gen(function*() {
    // Sent alone, so that a daemon that is starting or needs other credentials gets only one call.
    const chain = yield* daemon.ask("getblockchaininfo")
    const [sync, network, mempool, uptime, wallets, balances, wallet, names, renewals, alerts, registrations] =
      yield* askEach(
        daemon,
        [
          ["getsyncstatus"],
          ["getnetworkinfo"],
          ["getmempoolinfo"],
          ["uptime"],
          ["listwallets"],
          ["getbalances"],
          ["getwalletinfo"],
          ["name_list", IN_HEX],
          ["name_autorenew", RENEWALS_IN_HEX],
          ["name_alerts", ALERTS_IN_HEX],
          ["name_registrations", IN_HEX]
        ]
      )
    return {
      chain,
      sync,
      network,
      mempool,
      uptime,
      wallets,
      balances,
      wallet,
      names,
      renewals,
      alerts,
      registrations,
      cli: daemon.cli,
      now: yield* unixTime
    }
  })

const networkOf = (chain: Json): string => {
  const name = textAt(chain, "chain") ?? "an unknown network"
  return networkOfChain(name) ?? name
}

const versionOf = (network: Answer): string =>
  (textAt(network, "subversion") ?? "a daemon").replace(/^\/|\/$/g, "").replace(":", " ").replace("(", " (")

const warningsOf = ({ chain, network }: StatusAnswers): ReadonlyArray<string> => [
  ...new Set([...textsOf(at(chain, "warnings")), ...textsOf(at(network, "warnings"))])
]

/** Rounds down to hundredths of a percent, so that 100 % means complete. */
const percent = (share: number): string => `${(Math.floor(share * 10_000) / 100).toFixed(2)} %`

type Row = readonly [label: string, value: string, colour?: Colour | undefined]

const chainRows = ({ chain, now, sync: answer }: StatusAnswers): ReadonlyArray<Row> => {
  const [blocks = 0, known = 0] = [numberAt(chain, "blocks"), numberAt(chain, "headers")]
  const headers = Math.max(known, numberAt(answer, "headers") ?? 0)
  // svcd's own sync has a separate row.
  const progress = answer === undefined ? numberAt(chain, "verificationprogress") : undefined
  const time = numberAt(chain, "time")
  const difficulty = numberAt(chain, "difficulty")
  const sync: Row = hasLastBlocksAlone(answer)
    ? ["Chain", `height ${grouped(headers)}, recent blocks only`, "green"]
    : hasChain(chain, answer)
    ? ["Chain", `height ${grouped(blocks)}, synced`, "green"]
    : [
      "Chain",
      `height ${grouped(blocks)} of ${grouped(headers)}, syncing${
        progress === undefined ? "" : `: ${percent(progress)}`
      }`,
      "yellow"
    ]
  return [
    sync,
    [
      "Last block",
      `${time === undefined ? "" : `${spanText(now - time)} old, `}${textAt(chain, "bestblockhash") ?? ""}`
    ],
    ...(difficulty === undefined ? [] : [["Difficulty", shortNumber(difficulty)] as const])
  ]
}

const peerRows = ({ network, sync }: StatusAnswers): ReadonlyArray<Row> => {
  if (network === undefined) return []
  const count = numberAt(network, "connections") ?? 0
  if (count === 0 && isOffline(sync)) return [["Peers", NO_PEERS_WANTED]]
  if (at(network, "networkactive") === false) return [["Peers", "networking is turned off", "yellow"]]
  const [inbound, outbound] = [numberAt(network, "connections_in"), numberAt(network, "connections_out")]
  const ways = inbound === undefined || outbound === undefined ? "" : ` (${outbound} outbound, ${inbound} inbound)`
  return [["Peers", count === 0 ? "none" : `${grouped(count)}${ways}`, count === 0 ? "yellow" : undefined]]
}

/** Uptime in seconds after which a node without peers needs help. */
const ALONE_SECONDS = 60

/** Warns about missing peers, except on regtest: a private network may have none. */
const loneliness = ({ chain, network, sync, uptime }: StatusAnswers): ReadonlyArray<string> => {
  const isAlone = numberAt(network, "connections") === 0 && at(network, "networkactive") !== false && !isOffline(sync)
  const seconds = uptime instanceof JsonNumber ? uptime.value : 0
  return isAlone && seconds > ALONE_SECONDS && networkOf(chain) !== "regtest"
    ? [
      "no peers, so no new blocks: check the network and the firewall, and -proxy, -onlynet and -addpeer; -maxpeers 0 keeps the node offline"
    ]
    : []
}

const unseenWords = ({ cli, wallet }: StatusAnswers): ReadonlyArray<string> =>
  at(wallet, "phrase_kept") === false ? [ofWallet(UNSEEN_WORDS, { cli })] : []

const beyondWords = ({ cli, wallet }: StatusAnswers): ReadonlyArray<string> => {
  const [beyond = 0, lost = 0] = [numberAt(wallet, "addresses_beyond"), numberAt(wallet, "addresses_lost")]
  const found = beyondText({ beyond, lost })
  if (found !== undefined) return [ofWallet(`${found}: ${BEYOND_REMEDY}`, { cli })]
  const few = fewLeftText(numberAt(wallet, "addresses_left") ?? Number.POSITIVE_INFINITY)
  return few === undefined ? [] : [ofWallet(`${few}: ${FEW_REMEDY}`, { cli })]
}

/** Warnings shown in one status. The rest are only counted. */
const MOST_ALERTS = 10

const nameAlerts = ({ alerts, cli, wallets }: StatusAnswers): ReadonlyArray<string> => {
  const found = alertsOf(alerts)
  const isOneOfMany = textsOf(wallets).length > 1
  const others = found.length - MOST_ALERTS + (numberAt(alerts, "more") ?? 0)
  return [
    ...found.slice(0, MOST_ALERTS).map((alert) =>
      alertLine(alert, alert.wallet === "" && isOneOfMany ? cliOf("") : undefined)
    ),
    ...(others > 0
      ? [`${quantityOf(others, "more name is", "more names are")} in danger: "${cli} names" lists them`]
      : [])
  ]
}

/** Whether the wallet can sign only renewals now, or nothing. */
const isLocked = ({ now, wallet }: Pick<StatusAnswers, "now" | "wallet">): boolean =>
  (numberAt(wallet, "unlocked_until") ?? Number.POSITIVE_INFINITY) <= now || at(wallet, "renewals_only") === true

/** Registrations that wait only for the wallet to be unlocked. The owner continues a registration without a value. */
const waitingForKeys = (answers: StatusAnswers): ReadonlyArray<OwnNameEntry> =>
  !isLocked(answers) ?
    [] :
    ownNamesOf(answers.registrations).filter(({ said, value }) =>
      value !== undefined && textAt(said, "step") === "maturing" && numberAt(said, "blocks_left") === 0
    )

const lockedRegistrations = (answers: StatusAnswers): ReadonlyArray<string> => {
  const waiting = waitingForKeys(answers)
  const [first] = waiting
  if (first === undefined) return []
  const what = waiting.length === 1
    ? `the registration of ${shownBytes(first.name)} waits`
    : `${quantityOf(waiting.length, "registration")}, such as that of ${shownBytes(first.name)}, wait`
  return [`${what} until the wallet is unlocked: "${answers.cli} unlock" unlocks it`]
}

const mempoolRows = ({ mempool }: StatusAnswers): ReadonlyArray<Row> => {
  const count = numberAt(mempool, "size")
  if (count === undefined) return []
  return [["Mempool", `${quantityOf(count, "transaction")}, ${sizeText(numberAt(mempool, "bytes") ?? 0)}`]]
}

const lifeOf = (isRegtest: boolean): number => isRegtest ? REGTEST_EXPIRATION_DEPTH : EXPIRATION_DEPTH

/** A name with at most this many blocks left should be renewed soon. */
export const renewSoon = (isRegtest: boolean): number => soonWithin(lifeOf(isRegtest))

export const renewNow = (isRegtest: boolean): number => nowWithin(lifeOf(isRegtest))

/** Whether the wallet would renew the name, but cannot at the moment. */
const isBlocked = ({ said }: OwnedName): boolean =>
  ["locked", "no-coins", "failing", "too-late"].includes(toldOutlook({ said })?.state ?? "")

const nameRow = (names: ReadonlyArray<OwnedName>, { chain, now, renewals }: StatusAnswers): Row => {
  const alive = names.filter(isAlive)
  const next = alive[0]
  if (next === undefined) return ["Names", "none"]
  const isRegtest = networkOf(chain) === "regtest"
  const when = isRegtest ? "" : ` (about ${dayText(now + next.expiresIn * BLOCK_SECONDS)})`
  const renews = renewalOf(renewals) ?? (() => true)
  const byHand = alive.filter(({ name }) => !renews(name)).length
  const blocked = alive.filter(isBlocked).length
  return [
    "Names",
    `${grouped(alive.length)}, the next expires in ${quantityOf(next.expiresIn, "block")}${when}` +
    (byHand === 0 ? "" : `; ${grouped(byHand)} not renewed automatically`) +
    (blocked === 0 ? "" : `; ${grouped(blocked)} cannot be renewed now`),
    alive.some(({ said }) => needsOwner(toldOutlook({ said })))
      ? "red"
      : next.expiresIn <= renewSoon(isRegtest)
      ? "yellow"
      : undefined
  ]
}

const isZero = (amount: string | undefined): boolean => amount === undefined || Number(amount) === 0

const walletRows = (answers: StatusAnswers): ReadonlyArray<Row> => {
  const { balances, names, now, wallet, wallets } = answers
  const loaded = textsOf(wallets)
  if (!Array.isArray(wallets)) return []
  if (balances === undefined) {
    return [[
      "Wallet",
      loaded.length === 0 ? "none is loaded" : `${loaded.length} are loaded; -rpcwallet NAME selects one`
    ]]
  }
  const [pending, immature] = [
    spelledAt(balances, "mine", "untrusted_pending"),
    spelledAt(balances, "mine", "immature")
  ]
  const until = numberAt(wallet, "unlocked_until")
  const parts = [
    `${spelledAt(balances, "mine", "trusted") ?? "?"} NMC`,
    ...(isZero(pending) ? [] : [`${pending} unconfirmed`]),
    ...(isZero(immature) ? [] : [`${immature} immature`]),
    ...(until === undefined ? [] : [
      until <= now ? "locked" : at(wallet, "renewals_only") === true ? "unlocked for renewals only" : "unlocked"
    ])
  ]
  const name = textAt(wallet, "walletname") ?? ""
  const title = name === "" ? "" : ` in ${name}`
  return [["Wallet", parts.join(", ") + title], ...(names === undefined ? [] : [nameRow(ownedNames(names), answers)])]
}

export const statusText = (answers: StatusAnswers, connection: ConnectionSettings, screen: Screen): string => {
  const { chain, network, uptime } = answers
  const up = uptime !== null && typeof uptime === "object" && "value" in uptime ? `, up ${spanText(uptime.value)}` : ""
  const warnings = [
    ...warningsOf(answers),
    ...nameAlerts(answers),
    ...lockedRegistrations(answers),
    ...loneliness(answers),
    ...unseenWords(answers),
    ...beyondWords(answers)
  ]
  const rows: ReadonlyArray<Row> = [
    ...chainRows(answers),
    ...syncRows(answers.sync, screen),
    ...scanRows(answers.wallet, screen),
    ...peerRows(answers),
    ...mempoolRows(answers),
    ...walletRows(answers)
  ]
  return [
    `${shownText(versionOf(network))} on ${shownText(networkOf(chain))} at ${formatHostPort(connection.rpc)}${up}`,
    "",
    ...labelled(rows, screen),
    // Never truncated: part of a warning may mislead.
    ...warnings.map((text) => `Warning: ${shownText(text)}`),
    ""
  ].join("\n")
}

/** Numbers keep the digits that the daemon sent. */
export const statusJson = (answers: StatusAnswers): Json => {
  const { balances, chain, mempool, names, network, sync, uptime, wallet, wallets } = answers
  const alive = ownedNames(names).filter(isAlive)
  const renews = renewalOf(answers.renewals)
  return objectOf({
    network: networkOf(chain),
    version: versionOf(network),
    uptime,
    blocks: at(chain, "blocks"),
    headers: at(chain, "headers"),
    synced: isReady(chain, sync),
    progress: at(chain, "verificationprogress"),
    sync,
    best_block: at(chain, "bestblockhash"),
    best_block_time: at(chain, "time"),
    difficulty: at(chain, "difficulty"),
    peers: objectOf({
      total: at(network, "connections"),
      inbound: at(network, "connections_in"),
      outbound: at(network, "connections_out"),
      active: at(network, "networkactive"),
      wanted: !isOffline(sync)
    }),
    mempool: objectOf({ transactions: at(mempool, "size"), bytes: at(mempool, "bytes") }),
    wallets: wallets ?? [],
    wallet: balances === undefined ? null : objectOf({
      name: at(wallet, "walletname"),
      balance: at(balances, "mine", "trusted"),
      unconfirmed: at(balances, "mine", "untrusted_pending"),
      immature: at(balances, "mine", "immature"),
      unlocked_until: at(wallet, "unlocked_until"),
      renewals_only: at(wallet, "renewals_only"),
      names: names === undefined ? undefined : alive.length,
      next_expires_in: alive[0]?.expiresIn,
      names_by_hand: names === undefined || renews === undefined
        ? undefined
        : alive.filter(({ name }) => !renews(name)).length,
      registrations_locked: answers.registrations === undefined ? undefined : waitingForKeys(answers).length
    }),
    names_in_danger: alertsOf(answers.alerts).map(({ name, outlook, wallet }) =>
      objectOf({ name: name.text ?? null, name_hex: name.hex, wallet, ...outlook })
    ),
    warnings: warningsOf(answers)
  })
}

export const status = (
  daemon: Daemon,
  { connection, json, screen }: {
    readonly connection: ConnectionSettings
    readonly screen: Screen
    readonly json: boolean
  }
): Effect.Effect<string, RpcClientError> =>
  Effect.map(
    gatherStatus(daemon),
    (answers) => json ? `${indented(statusJson(answers))}\n` : statusText(answers, connection, screen)
  )
