import type { Json } from "../../rpc/json/json.ts"
import { objectOf } from "./jsonText.ts"
import type { Screen } from "./outcome.ts"
import { walletList } from "./ownNames.ts"
import { type Colour, painted } from "./table.ts"
import { shownText } from "./textWidth.ts"

/** One thing that `svcd-cli doctor` looks at. */

/** `skip`: the user of RPC has not the right to look. */
export type CheckState = "ok" | "warn" | "fail" | "skip"

export interface Check {
  /** A short stable word for programs. */
  readonly check: string
  readonly state: CheckState
  /** What was found. */
  readonly text: string
  /** What to do; empty for `ok`. */
  readonly remedy: string
  /** The wallet that it is about, where the daemon has several. */
  readonly wallet?: string
}

export const ok = ({ check, text }: Pick<Check, "check" | "text">): Check => ({ check, state: "ok", text, remedy: "" })

/** A finding that needs the operator. */
export interface Complaint {
  readonly text: string
  readonly remedy: string
}

export const warn = (check: string, { remedy, text }: Complaint): Check => ({ check, state: "warn", text, remedy })

export const fail = (check: string, { remedy, text }: Complaint): Check => ({ check, state: "fail", text, remedy })

export const skip = (check: string, { remedy, text }: Complaint): Check => ({ check, state: "skip", text, remedy })

const COLOURS: Readonly<Record<CheckState, Colour>> = { ok: "green", warn: "yellow", fail: "red", skip: "yellow" }

/** Columns before a text. */
const MARGIN = 6

export const checkLines = ({ remedy, state, text, wallet }: Check, screen: Screen): ReadonlyArray<string> => [
  `${painted(state.padEnd(MARGIN), COLOURS[state], screen)}${wallet === undefined ? "" : `${walletList([wallet])}: `}${
    shownText(text)
  }`,
  ...(remedy === "" ? [] : [`${" ".repeat(MARGIN)}${shownText(remedy)}`])
]

export const checkJson = ({ check, remedy, state, text, wallet }: Check): Json =>
  objectOf({ check, wallet, state, text, remedy: remedy === "" ? undefined : remedy })
