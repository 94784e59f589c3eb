import { actOf, isAlarming, isLostState, outlookColumn } from "../../base/outlookWords.ts"
import { cliOf, ownerCommand } from "../../base/ownerCommands.ts"
import type { Json } from "../../rpc/json/json.ts"
import { at, objectsOf, textAt } from "./jsonText.ts"
import { type OwnNameEntry, ownNamesOf, type Shown, shownBytes } from "./ownNames.ts"
import type { Colour } from "./table.ts"

/** What becomes of the wallet's names, as the daemon judges it (`outlook` of `name_list`, and `name_alerts`). */

export interface ToldOutlook {
  readonly state: string
  readonly urgency: string
  readonly text: string
  readonly acknowledged: boolean
  /** The transaction of an unconfirmed renewal. */
  readonly txid?: string | undefined
}

const readOutlook = (said: Json | undefined): ToldOutlook | undefined => {
  const [state, text, urgency] = [textAt(said, "state"), textAt(said, "text"), textAt(said, "urgency")]
  if (state === undefined || text === undefined || urgency === undefined) return undefined
  return { state, text, urgency, acknowledged: at(said, "acknowledged") === true, txid: textAt(said, "pending_txid") }
}

/** `undefined` while the daemon is syncing, and from a daemon that does not judge. */
export const toldOutlook = ({ said }: Pick<OwnNameEntry, "said">): ToldOutlook | undefined =>
  readOutlook(at(said, "outlook"))

export const needsOwner = (outlook: ToldOutlook | undefined): outlook is ToldOutlook =>
  outlook !== undefined && isAlarming(outlook.urgency) && !outlook.acknowledged

export interface NameAlert {
  readonly name: Shown
  /** `undefined` if all alerts are of one wallet that the command uses. */
  readonly wallet: string | undefined
  readonly outlook: ToldOutlook
}

/** Parameters of `name_alerts`. */
export const ALERTS_IN_HEX = { options: { nameEncoding: "hex" } } as const

/** None while the daemon is syncing: a name may have been renewed in a missing block. */
export const alertsOf = (answer: Json | undefined): ReadonlyArray<NameAlert> =>
  at(answer, "complete") !== true ? [] : ownNamesOf(objectsOf(at(answer, "names"))).flatMap(({ name, said }) => {
    const outlook = readOutlook(said)
    return outlook === undefined ? [] : [{ name, wallet: textAt(said, "wallet"), outlook }]
  })

/** `cli` begins the command: svcd-cli, with the flag for the wallet if there are several. */
export const dangerRemedy = (
  { name, outlook: { state, txid } }: Pick<NameAlert, "name" | "outlook">,
  cli: string
): string => {
  const known = `"${ownerCommand(cli, "dismiss", name)}" ends this warning`
  switch (actOf(state)) {
    case "unlock":
      return `"${cli} unlock -renewals" unlocks the wallet for renewals`
    case "sign":
      return `"${cli} name_renewals" shows its PSBT: sign it on the other machine, and send it with "${cli} sendpsbt PSBT"`
    case "fund":
      return `"${cli} receive" creates an address to fund the wallet`
    case "renew":
      return `"${ownerCommand(cli, "renew", name)}" ${state === "failing" ? "tries again" : "renews it now"}`
    case "raise-fee":
      return txid === undefined
        ? "raise the fee if the transaction stays unconfirmed"
        : `if it stays unconfirmed, "${cli} bumpfee ${txid}" raises the fee`
    case "register":
      return `"${ownerCommand(cli, "register", name)}" registers it; ${known}`
    default:
      return known
  }
}

/** The command line for the wallet of an alert. */
export const cliFor = ({ wallet = "" }: Pick<NameAlert, "wallet">): string => cliOf(wallet === "" ? undefined : wallet)

/** One sentence per alert, and its remedy. */
export const alertLine = (alert: NameAlert, cli = cliFor(alert)): string =>
  `${shownBytes(alert.name)} ${alert.outlook.text}: ${dangerRemedy(alert, cli)}`

export const outlookColour = ({ acknowledged, urgency }: ToldOutlook): Colour | undefined => {
  if (acknowledged) return "dim"
  return urgency === "alarm" ? "red" : urgency === "ok" ? undefined : "yellow"
}

export const outlookCell = (outlook: ToldOutlook) => ({
  text: outlookColumn(outlook.state),
  colour: outlookColour(outlook)
})

export const isLostName = (outlook: ToldOutlook | undefined): boolean => isLostState(outlook?.state)
