import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { NameClient } from "../../../src/client/NameClient.ts"
import type { NodeServices } from "../../../src/node/layers/node.ts"
import { nameClientLayer } from "../../../src/node/nodeClient.ts"
import type { NodeGone, World } from "../World.ts"

type Client = Context.Tag.Service<NameClient>

/** Uses names as a program does that runs the node in its own process. Ends with the node. */
export const withClient = <A, E>(
  world: World,
  node: string,
  use: (client: Client) => Effect.Effect<A, E, NodeServices>
): Effect.Effect<A, E | NodeGone> =>
  world.node(node).run(
    Effect.scoped(Effect.flatMap(Layer.build(nameClientLayer()), (context) => use(Context.get(context, NameClient))))
  )
