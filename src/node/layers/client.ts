import type * as Layer from "effect/Layer"
import { NameClient } from "../../client/NameClient.ts"
import { nameClientLayer, type NodeClientOptions } from "../nodeClient.ts"
import type { NodeServices } from "./services.ts"

/** Names from a node that is composed by hand. */
export class NodeNameClient extends NameClient {
  /** A client of the node below, in this process. `Node.layer` has one already. */
  static layerNode(options: NodeClientOptions = {}): Layer.Layer<NameClient, never, NodeServices> {
    return nameClientLayer(options)
  }
}
