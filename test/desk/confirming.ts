import { Effect } from "effect"
import { type DeskAnswer, NAME, PASSWORD, type TestDesk } from "./askDesk.ts"

/** The page on which a user confirms a registration, and its id. */
export const toConfirm = (desk: TestDesk, fields: Readonly<Record<string, string>> = {}) =>
  Effect.map(
    desk.send("write", { hex: NAME, new: "1", kind: "domain", base: "", address: "192.0.2.1", ...fields }),
    (answer) => ({ answer, id: answer.location.split("id=")[1] ?? "" })
  )

export const confirm = (
  desk: TestDesk,
  id: string,
  fields: Readonly<Record<string, string>> = {}
): Effect.Effect<DeskAnswer> => desk.send("confirm", { id, password: PASSWORD, ...fields })
