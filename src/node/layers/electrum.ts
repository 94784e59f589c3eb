import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { DataDirectory } from "../../config/DataDirectory.ts"
import type { Settings } from "../../config/settings.ts"
import * as Server from "../../electrum/ElectrumServer.ts"

/** The Electrum server of a node. Loaded on use: most nodes have none. */

export const electrumLayer = ({ electrum }: Settings) =>
  Layer.unwrapEffect(
    Effect.map(DataDirectory, (directory) => Server.layer({ ...electrum, directory: directory.file("electrum") }))
  )
