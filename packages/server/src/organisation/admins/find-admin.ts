/* What other folders may ask about admins. */
export { findAdminByEmail, type Admin } from './admin-store.ts'
