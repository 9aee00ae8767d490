/// How a request by the base URL of a route gave the key of the route. The numbers are on disk.
package enum BaseURLForm: Int, Sendable, Hashable, CaseIterable {
    /// Not in the path: `/.layover/route/{name}/…`.
    case plain = 1
    /// In the path: `/.layover/route/{name}/~{key}/…`.
    case keyed = 2
}
