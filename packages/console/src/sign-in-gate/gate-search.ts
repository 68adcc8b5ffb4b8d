/** What stands in the address of the wizard: the guide that was chosen. */
interface GuideSearch {
  readonly for?: string
}

export function readGuideSearch(search: Readonly<Record<string, unknown>>): GuideSearch {
  const { for: guide } = search
  return typeof guide === 'string' && guide !== '' ? { for: guide } : {}
}

/** What stands in the address of granted sessions and of browsers: `ended` shows those as well that are over. */
interface LiveSearch {
  readonly ended?: true
}

export function readLiveSearch(search: Readonly<Record<string, unknown>>): LiveSearch {
  return search['ended'] === true ? { ended: true } : {}
}
