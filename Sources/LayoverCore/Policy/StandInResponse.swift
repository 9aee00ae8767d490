/// A response that a policy gives in place of the origin's, once its attempts are exhausted.
package struct StandInResponse: Sendable, Hashable {
    /// 200 to 599.
    package var status: Int
    /// Field lines in the order of the wire. Framing is ours.
    package var fields: [Route.Field]
    package var body: String

    package init(status: Int, fields: [Route.Field] = [], body: String = "") {
        self.status = status
        self.fields = fields
        self.body = body
    }
}
