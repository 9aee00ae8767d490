extension Route {
    /// Whether the route gives each request an `Idempotency-Key`, so that an origin that knows the field can tell a second
    /// sending from a second request.
    package var addsIdempotencyKey: Bool { (setFields + addFields).contains(where: \.isIdempotencyKey) }
}

extension Route.Field {
    /// An empty key is none.
    package var isIdempotencyKey: Bool { name.lowercased() == "idempotency-key" && Repeatability.isKey(value.revealed) }
}
