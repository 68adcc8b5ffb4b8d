/* Links to records and to lists with a filter in their address. */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

interface ListLinkProps {
  /** The path of the list, such as `/devices`. */
  readonly to: string
  /** In the API's grammar; the whole list when left out. */
  readonly query?: string
  readonly className?: string | undefined
  readonly children: ReactNode
}

/** Leads to a list, narrowed by a search. */
export function ListLink({ to, query, className, children }: ListLinkProps) {
  return (
    <Link
      to={to}
      search={query === undefined ? {} : ({ query } as never)}
      {...(className === undefined ? {} : { className })}
    >
      {children}
    </Link>
  )
}

/** The text of a time in a search. */
export function quoteTime(time: Date): string {
  return `"${time.toISOString()}"`
}
