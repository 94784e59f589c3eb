import * as Context from "effect/Context"
import type { AnswerSettings } from "../config/settings.ts"

/** Required of every program. The others have defaults. */
type Needed = "allowExpired" | "nameEncoding" | "nameHashIndex" | "nameHistory" | "valueEncoding"

/** The operator's settings for answers. */
export class AnswerOptions extends Context.Tag("svcd/AnswerOptions")<
  AnswerOptions,
  Partial<AnswerSettings> & Pick<AnswerSettings, Needed> & {
    /** `-dnsttl`. */
    readonly dnsTtl?: number
  }
>() {}
