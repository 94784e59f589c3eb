import * as Schema from "effect/Schema"

/** The watch list is full, or a name is longer than names can be. */
export class WatchRefused extends Schema.TaggedError<WatchRefused>()("WatchRefused", { reason: Schema.String }) {
  override get message(): string {
    return this.reason
  }
}
