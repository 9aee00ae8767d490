/// A value that most of its owners do not have: room for a pointer instead of for the value itself.
///
/// It behaves like a plain optional; what is in the box is never changed, only replaced.
@propertyWrapper
package struct Boxed<Value: Sendable>: Sendable {
    private final class Box: Sendable {
        let value: Value

        init(_ value: Value) { self.value = value }
    }

    private var box: Box?

    /// Nil. In other modules the compiler does not specialize the initializer below, which looks for metadata of its types at run time:
    /// a hundred times as many instructions.
    package init() { box = nil }

    package init(wrappedValue: Value?) { box = wrappedValue.map(Box.init) }

    package var wrappedValue: Value? {
        get { box?.value }
        set { box = newValue.map(Box.init) }
    }
}

extension Boxed: Equatable where Value: Equatable {
    package static func == (one: Self, other: Self) -> Bool { one.wrappedValue == other.wrappedValue }
}

extension Boxed: Hashable where Value: Hashable {
    package func hash(into hasher: inout Hasher) { hasher.combine(wrappedValue) }
}
