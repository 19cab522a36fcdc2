-- Run once as superuser: the database, its owner, and a login for each role; the passwords stand in the environment.
\getenv owner SHANGHAI_OWNER_PASSWORD
\getenv app SHANGHAI_APP_PASSWORD
\getenv projector SHANGHAI_PROJECTOR_PASSWORD
\getenv operator SHANGHAI_OPERATOR_PASSWORD
CREATE ROLE shanghai_app NOLOGIN;
CREATE ROLE shanghai_projector NOLOGIN;
CREATE ROLE shanghai_operator NOLOGIN;
CREATE ROLE shanghai LOGIN PASSWORD :'owner';  -- migrates, and owns the tables
GRANT shanghai_app, shanghai_projector, shanghai_operator TO shanghai WITH ADMIN OPTION;
CREATE ROLE shanghai_app_login LOGIN PASSWORD :'app' IN ROLE shanghai_app;
CREATE ROLE shanghai_projector_login LOGIN PASSWORD :'projector' IN ROLE shanghai_projector;
CREATE ROLE shanghai_operator_login LOGIN PASSWORD :'operator' IN ROLE shanghai_operator, shanghai_app;  -- the latter for admin
CREATE DATABASE shanghai OWNER shanghai;
REVOKE ALL ON DATABASE shanghai FROM PUBLIC;
GRANT CONNECT ON DATABASE shanghai TO shanghai_app, shanghai_projector, shanghai_operator;
