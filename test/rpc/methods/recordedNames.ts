import { assert } from "@effect/vitest"
import type { Json } from "../../../src/rpc/json/json.ts"
import { at, items, recordedJson, recordedText } from "../../support/recordedJson.ts"

export const names = items(at(recordedJson("regtest-names/tip-names.json"), "names"))
export const tip = items(at(recordedJson("regtest-names/expected.json"), "checkpoints")).at(-1) ?? assert.fail()
export const scanned = items(at(tip, "nameScanHex"))

export const IN_HEX = { nameEncoding: "hex", valueEncoding: "hex" }
export const SYNCING = { code: -10, message: "Namecoin is downloading blocks..." }

export const textOf = (hex: string): string => Buffer.from(hex, "hex").toString("utf8")

/** All rows as one text. */
export const rowsText = (rows: ReadonlyArray<Json>): string => `[${rows.map(recordedText).join(",")}]`
