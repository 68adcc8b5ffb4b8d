import { useNavigate, useSearch } from '@tanstack/react-router'

interface AddressSearch {
  /** In the API's grammar; empty for the whole list. */
  readonly query: string
  readonly search: (query: string) => void
}

/** The search of the list that a page shows: it stands in the address, beside what else stands there. */
export function useAddressSearch(): AddressSearch {
  const { query = '' } = useSearch({ strict: false })
  const navigate = useNavigate()
  const search = (next: string) =>
    void navigate({
      to: '.',
      search: (before) => ({ ...before, query: next === '' ? undefined : next }),
      replace: true,
    })
  return { query, search }
}
