/// Objects by their identity, in the order of their arrival. Work on many objects must not depend on their addresses in memory.
struct ArrivedObjects<Object: AnyObject> {
    private var places: [ObjectIdentifier: (number: Int, object: Object)] = [:]
    /// Objects that ever came: the number of the newest.
    private var newestNumber = 0

    var count: Int { places.count }
    /// In no order: for questions to which the order does not matter.
    var all: some Sequence<Object> { places.values.lazy.map(\.object) }
    /// The oldest first.
    var inOrder: [Object] { places.values.sorted { $0.number < $1.number }.map(\.object) }

    /// One that is there already keeps its place.
    mutating func insert(_ object: Object) {
        guard places[ObjectIdentifier(object)] == nil else { return }
        newestNumber += 1
        places[ObjectIdentifier(object)] = (newestNumber, object)
    }

    mutating func remove(_ object: Object) { places[ObjectIdentifier(object)] = nil }
}
