import { Services } from "./wire/messages/version.ts"

/** What this node offers (protocol.md 6.3): all blocks, with witnesses; no encrypted transport. */
export const OWN_SERVICES = Services.network | Services.witness | Services.networkLimited
