"""OpenAPI documents for tests: small ones that have what large ones have."""

from __future__ import annotations

from typing import Any

SHOP: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Shop", "version": "1.2", "description": "Orders and articles of a shop."},
    "servers": [{"url": "https://shop.example/v1"}],
    "tags": [{"name": "orders"}],
    "security": [{"key": []}],
    "paths": {
        "/articles": {
            "get": {
                "operationId": "listArticles",
                "summary": "List articles",
                "description": "Lists the articles on sale, the newest first.",
                "tags": ["articles"],
                "parameters": [
                    {"$ref": "#/components/parameters/limit"},
                    {"name": "colour", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
                    {
                        "name": "size",
                        "in": "query",
                        "explode": False,
                        "schema": {"type": "array", "items": {"type": "integer"}},
                    },
                    {
                        "name": "filter",
                        "in": "query",
                        "style": "deepObject",
                        "schema": {"type": "object", "properties": {"price": {"type": "object"}}},
                    },
                    {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
                    {"name": "view", "in": "cookie", "schema": {"type": "string"}},
                ],
                "responses": {
                    "200": {
                        "description": "the articles",
                        "content": {
                            "application/json": {
                                "schema": {"type": "array", "items": {"$ref": "#/components/schemas/Article"}}
                            }
                        },
                    }
                },
            },
            "post": {
                "operationId": "addArticle",
                "summary": "Add an article",
                "requestBody": {"$ref": "#/components/requestBodies/Article"},
                "responses": {"201": {"$ref": "#/components/responses/Article"}},
            },
        },
        "/articles/{id}": {
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer", "minimum": 1}}],
            "get": {
                "operationId": "getArticle",
                "summary": "Get an article",
                "responses": {"200": {"$ref": "#/components/responses/Article"}},
            },
            "delete": {
                "summary": "Take an article off sale",
                "responses": {"204": {"description": "gone"}},
            },
            "put": {
                "operationId": "replaceArticle",
                "requestBody": {"$ref": "#/components/requestBodies/Article"},
                "responses": {"200": {"$ref": "#/components/responses/Article"}},
            },
        },
        "/files/{name}": {
            "put": {
                "operationId": "putFile",
                "parameters": [{"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}],
                "requestBody": {
                    "required": True,
                    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
                },
                "responses": {"204": {"description": "kept"}},
            },
            "get": {
                "operationId": "getFile",
                "parameters": [{"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}],
                "responses": {"200": {"description": "it", "content": {"application/octet-stream": {}}}},
            },
        },
        "/login": {
            "post": {
                "operationId": "login",
                "security": [],
                "requestBody": {
                    "content": {
                        "application/x-www-form-urlencoded": {
                            "schema": {
                                "type": "object",
                                "properties": {"user": {"type": "string"}, "days": {"type": "integer"}},
                            }
                        }
                    }
                },
                "responses": {"200": {"description": "in", "content": {"text/plain": {"schema": {"type": "string"}}}}},
            }
        },
        "/pictures": {
            "post": {
                "operationId": "addPicture",
                "requestBody": {
                    "content": {
                        "multipart/form-data": {
                            "schema": {
                                "type": "object",
                                "properties": {
                                    "title": {"type": "string"},
                                    "file": {"type": "string", "format": "binary"},
                                    "about": {"type": "object"},
                                },
                            }
                        }
                    }
                },
                "responses": {"204": {"description": "kept"}},
            }
        },
    },
    "components": {
        "parameters": {
            "limit": {
                "name": "limit",
                "in": "query",
                "description": "How many at most.",
                "schema": {"type": "integer", "minimum": 0, "exclusiveMinimum": True, "maximum": "50", "default": 20},
            }
        },
        "requestBodies": {
            "Article": {
                "required": True,
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Article"}}},
            }
        },
        "responses": {
            "Article": {
                "description": "an article",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Article"}}},
            }
        },
        "schemas": {
            "Article": {
                "type": "object",
                "required": ["id", "title"],
                "properties": {
                    "id": {"type": "integer", "readOnly": True},
                    "title": {"type": "string", "example": "A blue cup"},
                    "note": {"type": "string", "nullable": True},
                    "kind": {"type": "string", "nullable": True, "enum": ["cup", "plate"]},
                    "parts": {"type": "array", "items": {"$ref": "#/components/schemas/Article"}},
                },
            }
        },
        "securitySchemes": {"key": {"type": "apiKey", "name": "api_key", "in": "query"}},
    },
}
"""A document of version 3.0."""

BOOKS: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Books", "version": "2"},
    "paths": {
        "/books/{isbn}": {"$ref": "#/components/pathItems/book"},
        "/search": {
            "get": {
                "operationId": "search books!",
                "parameters": [
                    {"name": "q", "in": "query", "required": True, "schema": {"type": ["string", "null"]}},
                    {
                        "name": "where",
                        "in": "query",
                        "content": {"application/json": {"schema": {"type": "object"}}},
                    },
                ],
                "responses": {
                    "2XX": {
                        "description": "found",
                        "content": {
                            "application/vnd.books+json": {
                                "schema": {
                                    "$ref": "#/components/schemas/Page",
                                    "description": "a page of books",
                                }
                            }
                        },
                    }
                },
            }
        },
    },
    "components": {
        "pathItems": {
            "book": {
                "get": {
                    "parameters": [{"name": "isbn", "in": "path", "required": True, "schema": {"type": "string"}}],
                    "security": [{"token": []}],
                    "responses": {
                        "200": {
                            "description": "a book",
                            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Book"}}},
                        }
                    },
                }
            }
        },
        "schemas": {
            "Book": {
                "type": "object",
                "properties": {"title": {"type": "string"}, "next": {"$ref": "#/components/schemas/Book"}},
            },
            "Page": {
                "type": "object",
                "properties": {"books": {"type": "array", "items": {"$ref": "#/components/schemas/Book"}}},
            },
        },
        "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
    },
}
"""A document of version 3.1."""
