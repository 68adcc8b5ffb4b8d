import { useEffect, useState } from 'react'

/**
 * What a page finds when it is opened, and nobody after it. It is let go once the page is shown: rendering may begin
 * anew before that, and finds it again.
 *
 * @param read answers the same until `letGo`; both must stay the same functions
 */
export function useTaken<Found>(read: () => Found, letGo: () => void): Found {
  const [found] = useState(read)
  useEffect(letGo, [letGo])
  return found
}
