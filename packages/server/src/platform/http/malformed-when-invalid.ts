import { AppError } from '../app-error.ts'
import type { ApiRoute } from './route.ts'

/**
 * Lets a route answer 400 for the bodies that other routes answer 422 for, where a specification knows
 * 400 only. Code, message and details stay.
 */
export function malformedWhenInvalid(route: ApiRoute): ApiRoute {
  return {
    ...route,
    run: async (request) => {
      try {
        return await route.run(request)
      } catch (error) {
        if (!(error instanceof AppError) || error.kind !== 'invalid') throw error
        const details = error.details === undefined ? {} : { details: error.details }
        throw new AppError(error.code, error.message, {
          ...details,
          kind: 'malformed',
          cause: error,
        })
      }
    },
  }
}
