import { z } from 'zod'
import { caepPayload, type CaepCommonMembers } from './common-members.ts'

const CHANGE_DIRECTIONS = ['increase', 'decrease'] as const

/** Payload of an assurance-level-change event. CAEP 1.0 section 3.4. */
export interface AssuranceLevelChange extends CaepCommonMembers {
  /** Names the scheme that the levels belong to. */
  readonly namespace: string
  readonly current_level: string
  readonly previous_level?: string
  readonly change_direction?: (typeof CHANGE_DIRECTIONS)[number]
}

/** Validates an assurance-level-change payload; unknown members are kept. */
export const assuranceLevelChangeSchema = caepPayload({
  namespace: z.string().min(1),
  current_level: z.string().min(1),
  previous_level: z.string().exactOptional(),
  change_direction: z.enum(CHANGE_DIRECTIONS).exactOptional(),
})

const RISK_LEVELS = ['LOW', 'MEDIUM', 'HIGH'] as const

/** One of the three risk words. CAEP 1.0 section 3.8. */
export type RiskLevel = (typeof RISK_LEVELS)[number]

/** Payload of a risk-level-change event. CAEP 1.0 section 3.8. */
export interface RiskLevelChange extends CaepCommonMembers {
  /** USER, DEVICE, SESSION, TENANT, ORG_UNIT, GROUP or an agreed word. */
  readonly principal: string
  readonly current_level: RiskLevel
  readonly previous_level?: RiskLevel
  readonly risk_reason?: string
}

/** Validates a risk-level-change payload; unknown members are kept. */
export const riskLevelChangeSchema = caepPayload({
  principal: z.string().min(1),
  current_level: z.enum(RISK_LEVELS),
  previous_level: z.enum(RISK_LEVELS).exactOptional(),
  risk_reason: z.string().exactOptional(),
})
