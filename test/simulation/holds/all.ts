import type { Property } from "../World.ts"
import { agreementHolds } from "./agreementHolds.ts"
import { answersHold } from "./answersHold.ts"
import { decisionsHold } from "./decisionsHold.ts"
import { eventsHold } from "./eventsHold.ts"
import { fibersHold } from "./fibersHold.ts"
import { lightHolds } from "./lightHolds.ts"
import { memoryHolds } from "./memoryHolds.ts"
import { moneyHolds } from "./moneyHolds.ts"
import { namesHold } from "./namesHold.ts"
import { newcomersHold } from "./newcomersHold.ts"
import { poolHolds } from "./poolHolds.ts"
import { relayHolds } from "./relayHolds.ts"
import { renewalsHold } from "./renewalsHold.ts"
import { sagasHold } from "./sagasHold.ts"
import { acknowledgedHolds, clientsHold, replicasHold } from "./toldHolds.ts"
import { walletsHold } from "./walletsHold.ts"

/** What must hold in every world. */
export const PROPERTIES: ReadonlyArray<Property> = [
  namesHold,
  moneyHolds,
  poolHolds,
  relayHolds,
  walletsHold,
  sagasHold,
  renewalsHold,
  answersHold,
  acknowledgedHolds,
  clientsHold,
  agreementHolds,
  fibersHold,
  lightHolds,
  newcomersHold,
  replicasHold,
  eventsHold,
  decisionsHold,
  // Its last check ends all connections.
  memoryHolds
]
