import * as Context from "effect/Context"
import type { AnswerSettings } from "../config/settings.ts"

/** What no program leaves out; without the others an answer is what it is by default. */
type Needed = "allowExpired" | "nameEncoding" | "nameHashIndex" | "nameHistory" | "valueEncoding"

/** The operator's settings for answers. */
export class AnswerOptions extends Context.Tag("svcd/AnswerOptions")<
  AnswerOptions,
  Partial<AnswerSettings> & Pick<AnswerSettings, Needed>
>() {}
