import type { Settings } from "../../config/settings.ts"
import * as Server from "../../electrum/ElectrumServer.ts"

/** The Electrum server of a node. Loaded on use: most nodes have none. */

export const electrumLayer = ({ electrum }: Settings) => Server.layer(electrum)
