import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

/** Where the page of each kind of record is. */
const PATHS = {
  check: '/checks',
  device: '/devices',
  issue: '/issues',
  person: '/people',
  signIn: '/sign-ins',
} as const

interface RecordLinkProps {
  readonly kind: keyof typeof PATHS
  readonly id: string
  readonly children: ReactNode
}

/** A link to the page of a record of another folder. */
export function RecordLink({ kind, id, children }: RecordLinkProps) {
  return (
    <Anchor component={Link} to={`${PATHS[kind]}/${id}`} inherit c="inherit">
      {children}
    </Anchor>
  )
}
