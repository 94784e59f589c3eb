import * as Schema from "effect/Schema"

export class PeerNotFound extends Schema.TaggedError<PeerNotFound>()("PeerNotFound", {
  peer: Schema.String
}) {
  override get message(): string {
    return `no peer ${this.peer} is connected`
  }
}

/** No answer, a proxy refusal, or an incomplete handshake. */
export class PeerUnreachable extends Schema.TaggedError<PeerUnreachable>()("PeerUnreachable", {
  peer: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `cannot reach ${this.peer}: ${this.reason}`
  }
}
