import type { Settings } from "../../config/settings.ts"
import { type ConsensusParams, paramsOf, withOverrides } from "../../consensus/params.ts"
import { withAnchors } from "../../light/anchors.ts"
import { networks } from "../../protocol/networks.ts"

/** The rules of the configured network, with changes for tests. */
export const paramsFor = (settings: Settings): ConsensusParams => {
  const { anchor } = settings
  const own = withOverrides(paramsOf(networks[settings.network]), {
    activation: settings.activation,
    ...(settings.limitsTimewarp ? { limitsTimewarp: true } : {}),
    ...(settings.minimumChainWork === undefined ? {} : { minimumChainWork: settings.minimumChainWork })
  })
  const params = anchor === "default" ? own : withAnchors(own, anchor === "none" ? [] : [anchor])
  if (settings.assumeValid === "default") return params
  return { ...params, assumeValid: settings.assumeValid === "none" ? undefined : settings.assumeValid }
}
