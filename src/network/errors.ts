import * as Schema from "effect/Schema"

/** No connection has this address or number. */
export class PeerNotFound extends Schema.TaggedError<PeerNotFound>()("PeerNotFound", {
  peer: Schema.String
}) {
  override get message(): string {
    return `no peer ${this.peer} is connected`
  }
}

/** A peer cannot be reached: nobody answers, the proxy refuses, or the handshake does not come to its end. */
export class PeerUnreachable extends Schema.TaggedError<PeerUnreachable>()("PeerUnreachable", {
  peer: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `cannot reach ${this.peer}: ${this.reason}`
  }
}

/** The address for peers cannot be listened on. */
export class ListenFailed extends Schema.TaggedError<ListenFailed>()("ListenFailed", {
  address: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `cannot listen for peers on ${this.address}: ${this.reason}`
  }
}
