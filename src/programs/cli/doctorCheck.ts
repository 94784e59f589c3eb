import type { Json } from "../../rpc/json/json.ts"
import { objectOf } from "./jsonText.ts"
import type { Screen } from "./outcome.ts"
import { walletList } from "./ownNames.ts"
import { type Colour, painted } from "./table.ts"
import { shownText } from "./textWidth.ts"

/** `skip`: the RPC user lacks the right. */
export type CheckState = "ok" | "warn" | "fail" | "skip"

export interface Check {
  readonly check: string
  readonly state: CheckState
  readonly text: string
  readonly remedy: string
  readonly wallet?: string
}

export const ok = ({ check, text }: Pick<Check, "check" | "text">): Check => ({ check, state: "ok", text, remedy: "" })

export interface Complaint {
  readonly text: string
  readonly remedy: string
}

export const warn = (check: string, { remedy, text }: Complaint): Check => ({ check, state: "warn", text, remedy })

export const fail = (check: string, { remedy, text }: Complaint): Check => ({ check, state: "fail", text, remedy })

export const skip = (check: string, { remedy, text }: Complaint): Check => ({ check, state: "skip", text, remedy })

const COLOURS: Readonly<Record<CheckState, Colour>> = { ok: "green", warn: "yellow", fail: "red", skip: "yellow" }

const MARGIN = 6

export const checkLines = ({ remedy, state, text, wallet }: Check, screen: Screen): ReadonlyArray<string> => [
  `${painted(state.padEnd(MARGIN), COLOURS[state], screen)}${wallet === undefined ? "" : `${walletList([wallet])}: `}${
    shownText(text)
  }`,
  ...(remedy === "" ? [] : [`${" ".repeat(MARGIN)}${shownText(remedy)}`])
]

export const checkJson = ({ check, remedy, state, text, wallet }: Check): Json =>
  objectOf({ check, wallet, state, text, remedy: remedy === "" ? undefined : remedy })
