"""The event bus: Redis streams that tell committed events to whoever listens now."""
