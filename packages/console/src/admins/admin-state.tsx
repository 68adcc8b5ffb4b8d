import type { AdminUser } from '../api/generated/types.gen.ts'
import { StateBadge, type Tone } from '../kit/tone.tsx'
import { texts } from './texts.ts'

type State = keyof typeof texts.states

const TONES: Readonly<Record<State, Tone>> = {
  active: 'good',
  invited: 'notified',
  no_way_in: 'warn',
  deactivated: 'bad',
}

/** Whether an admin can sign in. */
export function AdminState({ admin, isPlain = false }: { admin: AdminUser; isPlain?: boolean }) {
  const state = stateOf(admin)
  return (
    <StateBadge tone={TONES[state]} isPlain={isPlain}>
      {texts.states[state]}
    </StateBadge>
  )
}

function stateOf(admin: AdminUser): State {
  if (admin.deactivated_at !== null) return 'deactivated'
  if (admin.ways_to_sign_in.length > 0) return 'active'
  return admin.invited_until === null ? 'no_way_in' : 'invited'
}

/** The ways that sign an admin in now, in words. */
export function waysOf({ ways_to_sign_in: ways }: AdminUser): string {
  return ways.length === 0 ? texts.noWay : ways.map((way) => texts.wayNames[way]).join(', ')
}

export function nameOf(admin: { readonly first_name: string; readonly last_name: string }): string {
  return `${admin.first_name} ${admin.last_name}`
}
