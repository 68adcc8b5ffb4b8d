/* The filters that everybody uses, each a clause of the search that is added or taken away with a click. */
import { UnstyledButton } from '@mantine/core'
import classes from './quick-filters.module.css'
import { joinClauses, splitClauses } from './search-text.ts'
import { texts } from './texts.ts'

export interface QuickFilter {
  readonly label: string
  /** In the grammar of the API, such as `auth_state:Blocked`. */
  readonly clause: string
  /** Filters of one group exclude each other. */
  readonly group: string
}

interface QuickFiltersProps {
  readonly filters: readonly QuickFilter[]
  readonly value: string
  readonly onChange: (search: string) => void
}

export function QuickFilters({ filters, value, onChange }: QuickFiltersProps) {
  const clauses = splitClauses(value)
  const toggle = ({ clause, group }: QuickFilter) => {
    const rivals = filters.filter((filter) => filter.group === group).map((filter) => filter.clause)
    const others = clauses.filter((each) => !rivals.includes(each))
    onChange(joinClauses(clauses.includes(clause) ? others : [...others, clause]))
  }
  return (
    <div className={classes.filters} role="group" aria-label={texts.quickFilters}>
      {filters.map((filter) => (
        <UnstyledButton
          key={filter.clause}
          className={classes.filter}
          aria-pressed={clauses.includes(filter.clause)}
          onClick={() => toggle(filter)}
        >
          {filter.label}
        </UnstyledButton>
      ))}
    </div>
  )
}
