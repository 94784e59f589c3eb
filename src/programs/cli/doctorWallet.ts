import * as Effect from "effect/Effect"
import { unixTime } from "../../base/clock.ts"
import { cliOf } from "../../base/ownerCommands.ts"
import { quantityOf } from "../../base/quantities.ts"
import { BEYOND_REMEDY, beyondText, FEW_REMEDY, fewLeftText } from "../../base/recoveryWords.ts"
import { quoted, shellWord } from "../../base/safeText.ts"
import type { Json } from "../../rpc/json/json.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import { askEach } from "./ask.ts"
import type { Daemon } from "./daemon.ts"
import { type Check, fail, ok, warn } from "./doctorCheck.ts"
import { at, numberAt, objectsOf, textAt, textsOf } from "./jsonText.ts"
import { NAME } from "./outcome.ts"
import { dangerRemedy, isLostName, type NameAlert, needsOwner, toldOutlook } from "./outlooks.ts"
import {
  IN_HEX,
  isAlive,
  type OwnedName,
  ownedNames,
  ownNamesOf,
  renewalOf,
  RENEWALS_IN_HEX,
  shownBytes,
  switchedOff,
  walletList
} from "./ownNames.ts"

type Answer = Json | undefined

export interface WalletAnswers {
  readonly wallet: Answer
  readonly names: Answer
  readonly renewals: Answer
  readonly registrations: Answer
  /** Begins remedies: svcd-cli, with the flag for the wallet if there are several. */
  readonly cli: string
  readonly program: string
  /** Unix time in seconds. */
  readonly now: number
}

const WEEK = 1_008

export interface SharedAnswers {
  /** `undefined` from a daemon without wallets. */
  readonly loaded: ReadonlyArray<string> | undefined
  readonly stored: ReadonlyArray<string>
  readonly watched: Answer
}

export const askWallets = (daemon: Daemon, isRegtest: boolean): Effect.Effect<SharedAnswers, RpcClientError> =>
  Effect.map(
    askEach(daemon, [
      ["listwallets"],
      ["listwalletdir"],
      ["name_expiring", {
        query: { blocks: isRegtest ? 4 : WEEK, watched: true, nameEncoding: "hex", valueEncoding: "hex" }
      }]
    ]),
    ([loaded, stored, watched]) => ({
      loaded: Array.isArray(loaded) ? textsOf(loaded) : undefined,
      stored: objectsOf(at(stored, "wallets")).flatMap((entry) => textAt(entry, "name") ?? []),
      watched
    })
  )

export const askWallet = (
  daemon: Daemon,
  name: string | undefined
): Effect.Effect<WalletAnswers, RpcClientError> =>
  Effect.gen(function*() {
    const [wallet, names, renewals, registrations] = yield* askEach(daemon, [
      ["getwalletinfo"],
      ["name_list", IN_HEX],
      ["name_autorenew", RENEWALS_IN_HEX],
      ["name_registrations", IN_HEX]
    ])
    return {
      wallet,
      names,
      renewals,
      registrations,
      cli: cliOf(name),
      program: name === undefined || name === ""
        ? "svcd-wallet export"
        : `svcd-wallet export --wallet ${shellWord(name)}`,
      now: yield* unixTime
    }
  })

const walletWords = (wallet: Answer): string => {
  const name = textAt(wallet, "walletname") ?? ""
  return name === "" ? "the wallet" : `wallet ${quoted(name)}`
}

const backupCheck = ({ cli, program, wallet }: WalletAnswers): ReadonlyArray<Check> => {
  switch (at(wallet, "phrase_kept")) {
    case true:
      return numberAt(wallet, "phrase_checked") === undefined
        ? [warn("backup", {
          text: `the seed phrase of ${walletWords(wallet)} was never verified: a mistake would show too late`,
          remedy: `verify three of its words with "${cli} seed check", or on the page Recovery words of the desk; ` +
            `"${program} --phrase" shows them`
        })]
        : [ok({ check: "backup", text: "the seed phrase of the wallet was verified" })]
    case false:
      return [warn("backup", {
        text:
          "the seed phrase of the wallet was never shown: without it or a backup, a disk failure loses its coins and names",
        remedy: `run "${program} --phrase", or "${cli} backup FILE"`
      })]
    default:
      return []
  }
}

/** Addresses that the seed phrase does not recover, or soon will not. */
const reachCheck = ({ wallet }: WalletAnswers): ReadonlyArray<Check> => {
  const lost = numberAt(wallet, "addresses_lost") ?? 0
  const beyond = beyondText({ beyond: numberAt(wallet, "addresses_beyond") ?? 0, lost })
  if (beyond !== undefined) {
    return [(lost > 0 ? fail : warn)("reach", { text: beyond, remedy: BEYOND_REMEDY })]
  }
  const few = fewLeftText(numberAt(wallet, "addresses_left") ?? Number.POSITIVE_INFINITY)
  return few === undefined ? [] : [warn("reach", { text: few, remedy: FEW_REMEDY })]
}

interface Locked {
  readonly all: boolean
  readonly renews: boolean
}

const lockOf = ({ now, wallet }: WalletAnswers): Locked => {
  const until = numberAt(wallet, "unlocked_until")
  const open = until === undefined || until > now
  return { all: !open, renews: open && at(wallet, "renewals_only") === true }
}

const listed = (names: ReadonlyArray<OwnedName>): string => {
  const [first] = names
  const name = first === undefined ? "" : shownBytes(first.name)
  const others = names.length - 1
  return others === 0 ? name : `${name} and ${quantityOf(others, "other name", "other names")}`
}

const verb = (names: ReadonlyArray<OwnedName>): string => names.length === 1 ? "expires" : "expire"

const notRenewed = (names: ReadonlyArray<OwnedName>): string =>
  `${listed(names)} ${names.length === 1 ? "is" : "are"} not renewed automatically`

/** Names in danger, then others that the wallet does not or cannot renew. */
const outlookChecks = ({ cli, names }: WalletAnswers): ReadonlyArray<Check> =>
  ownedNames(names).flatMap((each): ReadonlyArray<NameAlert & { readonly alarms: boolean }> => {
    const outlook = toldOutlook(each)
    if (outlook === undefined || outlook.acknowledged) return []
    const [alarms, isNotice] = [needsOwner(outlook), outlook.urgency === "notice" && !isLostName(outlook)]
    return alarms || isNotice ? [{ name: each.name, wallet: undefined, outlook, alarms }] : []
  }).sort((a, b) => Number(b.alarms) - Number(a.alarms)).map(({ alarms, ...alert }, index, all) =>
    index < MOST_NAMES
      ? (alarms ? fail : warn)(isLostName(alert.outlook) ? "lost" : "renewals", {
        text: `${shownBytes(alert.name)} ${alert.outlook.text}`,
        remedy: dangerRemedy(alert, cli)
      })
      : index > MOST_NAMES
      ? undefined
      : warn("renewals", {
        text: `${quantityOf(all.length - MOST_NAMES, "more name needs", "more names need")} attention`,
        remedy: `"${cli} names" lists them`
      })
  ).filter((check) => check !== undefined)

/** Names with checks of their own. */
const MOST_NAMES = 10

/** For a command. */
const onlyOne = ([first, ...others]: ReadonlyArray<OwnedName>): string => {
  const text = others.length === 0 ? first?.name.text : undefined
  return text === undefined ? "NAME" : shellWord(text)
}

const renewalChecks = (answers: WalletAnswers): ReadonlyArray<Check> => {
  const { cli } = answers
  const alive = ownedNames(answers.names).filter(isAlive)
  const renews = renewalOf(answers.renewals) ?? (() => false)
  const byHand = alive.filter(({ name }) => !renews(name))
  // The owner excluded these: they may expire.
  const isOff = switchedOff(answers.renewals)
  const off = byHand.filter(({ name }) => isOff(name))
  const unset = byHand.filter(({ name }) => !isOff(name))
  const found = [
    ...outlookChecks(answers),
    ...(unset.length > 0
      ? [warn("autorenew", {
        text: notRenewed(unset),
        remedy: `"${cli} autorenew -all on" renews all names of the wallet${
          off.length > 0 ? ", including those you turned off" : ""
        }`
      })]
      : []),
    ...(off.length > 0
      ? [warn("autorenew", {
        text: `${notRenewed(off)}, because you turned it off`,
        remedy: `if you did not mean it: "${cli} autorenew ${onlyOne(off)} on"`
      })]
      : [])
  ]
  if (found.length > 0 || alive.length === 0) return found
  // A daemon that is syncing does not know: the check of the sync says so.
  const isKnown = alive.every((name) => toldOutlook(name) !== undefined)
  return isKnown ? [ok({ check: "renewals", text: "the wallet renews all its names" })] : []
}

/** Registrations whose next step needs an unlocked wallet. */
const registrationChecks = (answers: WalletAnswers): ReadonlyArray<Check> => {
  const { all, renews } = lockOf(answers)
  const { cli } = answers
  const under = ownNamesOf(answers.registrations).filter(({ said }) =>
    ["committed", "maturing"].includes(textAt(said, "step") ?? "")
  )
  return under.length > 0 && (all || renews)
    ? [warn("registrations", {
      text: `the wallet is ${renews ? "unlocked for renewals only" : "locked"}, and ${
        quantityOf(under.length, "registration")
      } will need it unlocked`,
      remedy: `"${cli} registrations" shows when; then unlock it with: "${cli} unlock"`
    })]
    : []
}

const watchedChecks = ({ watched }: SharedAnswers): ReadonlyArray<Check> => {
  const names = ownedNames(at(watched, "names")).filter(({ said }) => at(said, "mine") !== true)
  return names.length === 0 ? [] : [warn("watched", {
    text: `${listed(names)}, on your watch list, ${verb(names)} within a week`,
    remedy: "tell the owner"
  })]
}

export const noSuchWallet = (name: string, { loaded = [], stored }: SharedAnswers): Check =>
  fail("wallet", {
    text: `wallet ${walletList([name])} is not loaded and was not checked`,
    remedy: stored.includes(name)
      ? `load it: "${NAME} loadwallet ${shellWord(name)}"`
      : loaded.length === 0
      ? `no wallet is loaded; "${NAME} listwalletdir" lists those of the data directory`
      : `choose a loaded wallet with -rpcwallet, or omit it: ${walletList(loaded)}`
  })

export const walletChecks = (answers: WalletAnswers): ReadonlyArray<Check> =>
  answers.wallet === undefined
    ? []
    : [...backupCheck(answers), ...reachCheck(answers), ...renewalChecks(answers), ...registrationChecks(answers)]

export const sharedChecks = (answers: SharedAnswers): ReadonlyArray<Check> => {
  const { loaded, stored } = answers
  if (loaded === undefined) return watchedChecks(answers)
  const others = stored.filter((name) => !loaded.includes(name))
  return [
    ...(loaded.length > 0 || others.length > 0 ? [] : [ok({ check: "wallet", text: "no wallet is loaded" })]),
    ...others.map((name) =>
      warn("wallet", {
        text: `a wallet in the data directory is not loaded, so it renews no names: ${walletList([name])}`,
        remedy: `"${NAME} loadwallet ${shellWord(name)} true" loads it, now and at each start; ` +
          "move the file elsewhere if you do not need it"
      })
    ),
    ...watchedChecks(answers)
  ]
}
