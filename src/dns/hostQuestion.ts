import { bitHostOf } from "../values/readName.ts"
import type { Question } from "./answer.ts"
import { typeOfWord } from "./recordTypes.ts"
import { readNameText } from "./wire/name.ts"

/** Why a program's question cannot be asked: `field` has to do what `reason` says. */
export interface QuestionFault {
  readonly field: "host" | "type"
  readonly reason: string
}

/** A host below `.bit`, in any case and in Unicode, and the word of a type. */
// positional: as in `dns.resolve`
export const hostQuestion = (host: string, type: string): Question | QuestionFault => {
  const text = bitHostOf(host)
  if (text === undefined) return { field: "host", reason: "be a host below .bit, such as www.example.bit" }
  const name = readNameText(text)
  if (name === undefined) {
    return { field: "host", reason: "have at most 63 bytes between two dots, and at most 253 bytes in all" }
  }
  const number = typeOfWord(type)
  return number === undefined
    ? { field: "type", reason: "be a type of records, such as A, AAAA, TXT or TYPE65" }
    : { name, type: number }
}
