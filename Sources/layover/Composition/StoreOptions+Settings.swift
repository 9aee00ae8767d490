import LayoverConfiguration
import LayoverCore
import LayoverStore

extension StoreOptions {
    init(_ settings: StoreSettings, routeFields: SealedFields = .init()) {
        self.init(path: settings.file, spoolFolder: settings.spoolFolder)
        encryptFields = settings.encryptFields
        self.routeFields = routeFields
    }
}

extension SealedFields {
    /// Adds what the routes set or add, where the operator has not named the fields that are sealed.
    func add(from settings: Settings) {
        if settings.store.encryptsRouteFields { add(settings.routes.writtenFields) }
    }
}
