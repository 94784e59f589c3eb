import * as Data from "effect/Data"

/** One server gave no answer to one query. */
export class AskFailed extends Data.TaggedError("DnsAskFailed")<{ readonly reason: string }> {
  override get message(): string {
    return `no answer: ${this.reason}`
  }
}
