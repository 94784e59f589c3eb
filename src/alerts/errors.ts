import * as Schema from "effect/Schema"

/** The list of watched names has no room for more, or a name is longer than a name can be. */
export class WatchRefused extends Schema.TaggedError<WatchRefused>()("WatchRefused", { reason: Schema.String }) {
  override get message(): string {
    return this.reason
  }
}
